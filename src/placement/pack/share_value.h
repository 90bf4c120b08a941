// What the free part of a shared GPU is worth, measured in whole GPUs: the value that the shares
// which typically arrive could make of it.
//
// Shares on GPUs are a cutting-stock problem: which combinations of sizes fill GPUs best. The dual
// of its linear program gives each size a price, such that no combination that fits a GPU is worth
// more than one GPU; a free part is worth the best combination that fits it. A share that costs a
// free part more worth than its own wastes the difference: 470 and 530 thousandths are half a GPU
// each where 470s abound, and 190 are worth nothing where nothing so small arrives.
// Source: Gilmore and Gomory, "A Linear Programming Approach to the Cutting-Stock Problem", 1961.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace placement::pack {

class ShareValue {
 public:
  struct Size {
    int32_t milli = 0;  // 1 to 999.
    double weight = 0;  // How often it arrives, in any unit.
    friend bool operator==(const Size&, const Size&) = default;
  };

  // Nothing is worth anything.
  ShareValue() = default;
  // Sizes ascending. Cost: O(sizes) times a fixed number of steps.
  explicit ShareValue(const std::vector<Size>& sizes);

  // Of a GPU with so much free, 0 to 1000.
  double of(int32_t milli) const { return value_[static_cast<size_t>(milli) / grain]; }

 private:
  static constexpr int32_t grain = 5;  // Thousandths that are told apart.
  std::array<double, 1000 / grain + 1> value_{};
};

}  // namespace placement::pack
