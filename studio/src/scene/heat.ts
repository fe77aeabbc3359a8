import type { HeatScale } from '../engine/protocol';

/** sRGB from strongest to weakest, as in the command's pictures. */
const BLUES = [[24, 60, 134], [35, 100, 170], [82, 152, 205], [156, 202, 230], [241, 240, 238]];
const REDS = [[134, 14, 32], [178, 35, 40], [219, 98, 70], [245, 171, 138], [241, 240, 238]];
/** What is not a number. */
const UNKNOWN = [90, 90, 90];
const STEPS = 256;

function linearFromSrgb(byte: number): number {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function srgbFromLinear(c: number): number {
  const s = c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055;
  return Math.round(s * 255);
}

/** Linear RGB for strengths 0 (neutral) to 1, three numbers each. */
function ramp(stops: number[][]): Float32Array {
  const table = new Float32Array((STEPS + 1) * 3);
  for (let k = 0; k <= STEPS; k++) {
    const at = (1 - k / STEPS) * (stops.length - 1);
    const first = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) {
      const a = linearFromSrgb(stops[first]![c]!);
      const b = linearFromSrgb(stops[first + 1]![c]!);
      table[k * 3 + c] = a + (b - a) * (at - first);
    }
  }
  return table;
}

const BLUE_RAMP = ramp(BLUES);
const RED_RAMP = ramp(REDS);
const GREY = UNKNOWN.map(linearFromSrgb);

/** Writes a linear colour for each value. */
export function heatColours(values: Float32Array, scale: HeatScale, colours: Float32Array): void {
  const { low, neutral, high } = scale;
  // A scale without width has no strength.
  const below = neutral > low ? STEPS / (neutral - low) : 0;
  const above = high > neutral ? STEPS / (high - neutral) : 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) {
      colours.set(GREY, i * 3);
      continue;
    }
    const table = value < neutral ? BLUE_RAMP : RED_RAMP;
    const strength = value < neutral ? (neutral - value) * below : (value - neutral) * above;
    const k = Math.min(STEPS, Math.round(strength)) * 3;
    colours[i * 3] = table[k]!;
    colours[i * 3 + 1] = table[k + 1]!;
    colours[i * 3 + 2] = table[k + 2]!;
  }
}

/** A CSS gradient of the scale, neutral in its middle; without blue where nothing lies below neutral. */
export function heatGradient(scale: HeatScale): string {
  const css = (table: Float32Array, k: number) =>
    `rgb(${srgbFromLinear(table[k * 3]!)} ${srgbFromLinear(table[k * 3 + 1]!)} ${srgbFromLinear(table[k * 3 + 2]!)})`;
  const stops: string[] = [];
  if (scale.low < scale.neutral) for (let k = STEPS; k > 0; k -= 32) stops.push(css(BLUE_RAMP, k));
  for (let k = 0; k <= STEPS; k += 32) stops.push(css(RED_RAMP, k));
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
