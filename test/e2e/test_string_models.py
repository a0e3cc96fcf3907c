"""A model of strings: from Python and its threads, from C with two states under a sanitizer, by the command line."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import mlc
from mlc import target
from mlc.cli import main
from mlc.driver.toolchain.c_compiler import find
from mlc.errors import RunError

MODEL = """<ir_version: 10, opset_import: ["" : 20, "ai.onnx.ml" : 4]>
words (string[n] lines) => (string[n,m] pieces, int64[n] counts, string[n] loud, string[k] found) {
  pieces, counts = StringSplit <delimiter = ","> (lines)
  mark = Constant <value_string = "!">()
  marked = StringConcat (lines, mark)
  loud = ai.onnx.ml.LabelEncoder <keys_strings = ["a!"], values_strings = ["A?"], default_string = "other"> (marked)
  found = Unique <sorted = 1> (lines)
}"""

C = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "words.h"
static int run(words_model *model, const char *const *lines, int64_t n) {
  int64_t dims[] = {n}, shape[2], counts[8], sizes[2];
  const char *loud[8], *found[8];
  if (words_output_shape(0, dims, shape) != 2 || shape[0] != n) return 1;
  const char **pieces = malloc(shape[0] * shape[1] * sizeof *pieces);
  const void *inputs[] = {lines};
  void *outputs[] = {pieces, counts, loud, found, &sizes[0], &sizes[1]};
  if (words_run(model, inputs, outputs, dims, NULL)) return puts(words_error()), 2;
  for (int i = 0; i < n; i++, printf(";"))
    for (int j = 0; j < sizes[0]; j++) printf("%s|", pieces[i * sizes[0] + j]);
  for (int i = 0; i < sizes[1]; i++) printf("%s ", found[i]);
  puts(loud[0]);
  return free(pieces), 0;
}
int main(void) {
  words_model *first = words_create(NULL, 2), *second = words_create(NULL, 1);
  const char *some[] = {"a", "b,c", "b,c"}, *others[] = {"x,\\xc3\\xbc,z", ""};
  for (int i = 0; i < 300; i++)
    if (run(first, some, 3) || run(second, others, 2)) return 1;
  char string[40], *many = string;
  for (int i = 0; i < 3000; i++) { /* more new strings than the table has room for at first */
    sprintf(string, "new string %d", i);
    if (run(first, (const char *const *)&many, 1)) return 2;
  }
  words_destroy(first);
  words_destroy(second);
  return 0;
}
"""


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    return onnx.parser.parse_model(MODEL)


@pytest.fixture(scope="module")
def net(model: onnx.ModelProto) -> mlc.Model:
    return mlc.compile(model)


def test_from_python(net: mlc.Model) -> None:
    for lines in (["a", "b,c", ""], np.array([["é"], ["b,,c"]])[:, 0], np.array(["a"], dtype=object)):
        pieces, counts, loud, found = net(lines)
        split = [string.split(",") for string in lines]
        assert pieces.tolist() == [p + [""] * (max(map(len, split)) - len(p)) for p in split]
        assert counts.tolist() == [len(p) for p in split]
        assert loud.tolist() == ["A?" if string == "a" else "other" for string in lines]
        assert found.tolist() == sorted(set(lines))
    assert net.inputs["lines"].dtype == object and net.signature["inputs"][0]["dtype"] == "str"


def test_what_is_no_string(net: mlc.Model) -> None:
    for lines, why in (([1, 2], "of strings, but has the dtype int64"), (np.array(["a", None]), "is not a string")):
        with pytest.raises(RunError, match=why):
            net(lines)
    for string, why in (("a\0b", "a zero in it"), ("\ud800", "is not a string")):
        with pytest.raises(RunError, match=why):
            net(np.array([string], dtype=object))
    with pytest.raises(RunError, match="of strings, but has the dtype uint64"):
        net.run({"lines": np.zeros(3, np.uintp)})
    with pytest.raises(RunError, match="'loud' has strings"):
        net.run({"lines": np.array(["a"])}, out={"loud": np.empty(1, object)})


def test_threads_of_one_model(net: mlc.Model) -> None:
    def run(number: int) -> bool:
        lines = [f"{number},{k}" for k in range(number % 7 + 1)]
        pieces = net(lines)[0]
        return pieces.tolist() == [line.split(",") for line in lines]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(400)))


def test_from_c_without_leaks(model: onnx.ModelProto, tmp_path: Path) -> None:
    """Two states, one run after the other, under the sanitizers of addresses, leaks and undefined behaviour."""
    onnx.save(model, tmp_path / "words.onnx")
    (tmp_path / "main.c").write_text(C)
    command = find(None, target.get("cpu")).command
    check = "-fsanitize=address,undefined"
    made = subprocess.run([*command, check, "-x", "c", "-", "-o", str(tmp_path / "probe")], input=b"int main(){}")
    if made.returncode:
        pytest.skip("the C compiler has no address sanitizer")
    with pytest.raises(SystemExit):
        main(["compile", str(tmp_path / "words.onnx"), "-o", str(tmp_path / "words.so"), "--sanitize", check[11:]])
    link = ["-L.", "-l:words.so", "-Wl,-rpath,$ORIGIN"]
    subprocess.run([*command, "-g", check, "main.c", "-o", "main", *link], cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert lines[:2] == ["a||;b|c|;b|c|;a b,c A?", "x|ü|z|;|||; x,ü,z other"]
    assert lines[-1] == "new string 2999|;new string 2999 other"
    assert "lines str[n]" in (tmp_path / "words.h").read_text()


def test_command_line(model: onnx.ModelProto, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, given, out = tmp_path / "words.onnx", tmp_path / "lines.npy", tmp_path / "out.npz"
    onnx.save(model, path)
    np.save(given, np.array(["a", "ü,b"]))
    for arguments in (["-i", str(given), "-o", str(out)], ["--random", "3"]):
        with pytest.raises(SystemExit) as ended:
            main(["run", str(path), *arguments])
        assert not ended.value.code
    assert "loud: object[2] ['A?', 'other']" in capsys.readouterr().out
    with np.load(out) as results:
        assert results["pieces"].tolist() == [["a", ""], ["ü", "b"]]
