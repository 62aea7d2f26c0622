// The known name that a misspelt one probably means.

/** A name with more slips is near for no caller. */
const mostSlips = 3;

/** The name with the fewest slips among those that are near enough. Names are compared as `compared` writes them. */
export function nearestName(
  name: string,
  known: readonly string[],
  compared: (name: string) => string,
  isNear: (known: string, slips: number) => boolean,
): string | undefined {
  const { length } = compared(name);
  const [best] = known
    .filter((one) => Math.abs(compared(one).length - length) <= mostSlips)
    .map((one) => ({ one, slips: slipsBetween(compared(name), compared(one)) }))
    .filter(({ one, slips }) => isNear(one, slips))
    .sort((one, other) => one.slips - other.slips);
  return best?.one;
}

/** Characters left out, added, replaced, or swapped with the next one. Infinite as soon as more than `mostSlips` are certain. */
function slipsBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  let fewestInLast = 0;
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    let fewest = row;
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const slips = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      );
      current[column] = slips;
      fewest = Math.min(fewest, slips);
    }
    // A swap continues from the row before the last, so two rows together decide.
    if (Math.min(fewestInLast, fewest) > mostSlips) return Infinity;
    [beforeLast, last, fewestInLast] = [last, current, fewest];
  }
  return last[other.length] ?? 0;
}
