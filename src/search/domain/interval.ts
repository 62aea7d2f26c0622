// Between which shares the true one lies in 95 of 100 cases, by Wilson's formula. It is right for few cases too.

const z = 1.96;

export type Interval = { readonly from: number; readonly until: number };

/** Of 0 to 1. */
export function intervalOf(hits: number, count: number): Interval {
  if (count === 0) return { from: 0, until: 1 };
  const share = hits / count;
  const centre = share + z ** 2 / (2 * count);
  const reach = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  const whole = 1 + z ** 2 / count;
  return { from: Math.max(0, (centre - reach) / whole), until: Math.min(1, (centre + reach) / whole) };
}
