// SPDX-License-Identifier: MIT
// page/time.js -- nanoseconds for the eye

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

/// "12.3 us": three significant digits, in a unit that suits.
function timeText(nanoseconds) {
  const [size, unit] = UNITS.find(([size]) => nanoseconds >= size) ?? UNITS[3];
  const amount = nanoseconds / size;
  const decimals = unit === "ns" || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  return `${amount.toFixed(decimals)} ${unit}`;
}

/// A point in time in microseconds, exact to the nanosecond.
const exactText = (nanoseconds) => `${(nanoseconds / 1000).toFixed(3)} us`;

/// "1 slice", "2 slices".
const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

const shareText = (share) => `${(share * 100).toFixed(0)} %`;

/// The distance between marks of a ruler: the smallest 1, 2 or 5 times a power of ten that is at least `least`.
function rulerStep(least) {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least) ?? 10 * power;
}

/// The marks of one ruler share a unit, and enough decimals to tell them apart.
function rulerText(time, step) {
  const [size, unit] = UNITS.find(([size]) => Math.max(time, step) >= size) ?? UNITS[3];
  const decimals = Math.max(0, Math.ceil(Math.log10(size / step)));
  return `${(time / size).toFixed(decimals)} ${unit}`;
}
