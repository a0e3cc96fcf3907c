/* Prints what test_cute_layouts.py compares with, as CuTe has it (CUTLASS 4.x; the host computes it, no GPU is needed):
 *   nvcc -std=c++17 -arch=sm_90a -I cutlass/include cute_layouts.cu -o cute_layouts && ./cute_layouts | grep -v ERROR */
#include <cstdio>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/mma_traits_sm80.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cute/tensor.hpp>

using namespace cute;
using Half = half_t;
constexpr auto K = GMMA::Major::K, MN = GMMA::Major::MN;

/* The layouts of fragments: (thread, value) to m + M k of the left factor, n + N k of the right one, m + M n of sums. */
template <class Instruction> void fragments(const char *name) {
  using Traits = MMA_Traits<Instruction>;
  printf("%s: left ", name), print(typename Traits::ALayout{});
  printf(" right "), print(typename Traits::BLayout{});
  printf(" sums "), print(typename Traits::CLayout{});
  printf("\n");
}

/* An operand of 128 rows in shared memory: the offset, in elements, of each power of two along the sum and across it,
 * and the matrix descriptors of the first 64 rows, in the order of steps. */
template <class Instruction, class T, int STEPS, class Atom> void operand(const char *name, Atom atom) {
  auto layout = tile_to_shape(atom, Shape<_128, Int<STEPS>>{}, Step<_2, _1>{});
  auto shared = make_tensor(make_smem_ptr((T *)nullptr), layout);
  auto thread = make_tiled_mma(Instruction{}).get_slice(0);
  auto descriptors = thread.make_fragment_B(thread.partition_B(shared));
  printf("%s %d: along", name, STEPS);
  for (int k = 1; k < STEPS; k *= 2) printf(" %d", (int)(&shared(0, k) - (T *)nullptr));
  printf(" across");
  for (int m = 1; m < 128; m *= 2) printf(" %d", (int)(&shared(m, 0) - (T *)nullptr));
  printf(" descriptors");
  for (int k = 0; k < size<2>(descriptors); k++) printf(" %016lx", (unsigned long)(*descriptors(_, 0, k).data()).desc_);
  printf("\n");
}

int main() {
  fragments<SM80_16x8x16_F32F16F16F32_TN>("m16n8k16");
  fragments<SM80_16x8x8_F32TF32TF32F32_TN>("m16n8k8");
  fragments<SM80_16x8x32_S32U8S8S32_TN>("m16n8k32");
  fragments<SM90_64x64x16_F32F16F16_SS<K, K>>("m64n64k16");
  fragments<SM90_64x256x16_F32F16F16_SS<K, K>>("m64n256k16");
  operand<SM90_64x128x16_F32F16F16_SS<K, K>, Half, 64>("halves along", GMMA::Layout_K_SW128_Atom<Half>{});
  operand<SM90_64x128x16_F32F16F16_SS<K, K>, Half, 32>("halves along", GMMA::Layout_K_SW64_Atom<Half>{});
  operand<SM90_64x128x16_F32F16F16_SS<K, K>, Half, 16>("halves along", GMMA::Layout_K_SW32_Atom<Half>{});
  operand<SM90_64x128x16_F32F16F16_SS<MN, MN>, Half, 64>("halves across", GMMA::Layout_MN_SW128_Atom<Half>{});
  operand<SM90_64x128x16_F32F16F16_SS<MN, MN>, Half, 32>("halves across", GMMA::Layout_MN_SW128_Atom<Half>{});
  operand<SM90_64x128x16_F32F16F16_SS<MN, MN>, Half, 16>("halves across", GMMA::Layout_MN_SW128_Atom<Half>{});
  operand<SM90_64x128x32_S32S8S8_SS_TN, int8_t, 128>("bytes along", GMMA::Layout_K_SW128_Atom<int8_t>{});
  operand<SM90_64x128x32_S32S8S8_SS_TN, int8_t, 64>("bytes along", GMMA::Layout_K_SW64_Atom<int8_t>{});
  operand<SM90_64x128x8_F32TF32TF32_SS_TN<>, tfloat32_t, 32>("floats along", GMMA::Layout_K_SW128_Atom<tfloat32_t>{});
  operand<SM90_64x128x8_F32TF32TF32_SS_TN<>, tfloat32_t, 16>("floats along", GMMA::Layout_K_SW64_Atom<tfloat32_t>{});
}
