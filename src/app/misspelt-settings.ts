// Names in the environment that are probably misspelt settings, each with the nearest right name.

export type MisspeltSetting = { readonly name: string; readonly nearest?: string };

type Environment = Readonly<Record<string, string | undefined>>;

const prefix = 'MANDATE_';
/** The examples and the API page read these. */
const ofExamples = ['MANDATE_API_KEY', 'MANDATE_TOKEN', 'MANDATE_URL'];
/** Kubernetes and Docker links set these for a service that is called mandate. */
const ofContainers =
  /^[A-Z0-9_]+_(SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_[A-Z]+)?)?|NAME|ENV_.+)$/;
const containerAddress = /^(tcp|udp|sctp):\/\//;
/** A shorter name resembles too many others. */
const minLength = 8;

/** Only names with our prefix, or within a slip of a setting that is not set itself. */
export function misspeltSettings(environment: Environment, settings: readonly string[]): MisspeltSetting[] {
  return Object.keys(environment).flatMap((name) => {
    if (settings.includes(name) || ofExamples.includes(name) || isOfContainers(name, environment[name]))
      return [];
    const nearest = nearestOf(name, settings);
    if (name.startsWith(prefix)) return [{ name, ...(nearest === undefined ? {} : { nearest }) }];
    return nearest === undefined || environment[nearest] ? [] : [{ name, nearest }];
  });
}

function isOfContainers(name: string, value = ''): boolean {
  return ofContainers.test(name) && (containerAddress.test(value) || /_(SERVICE|PORT)_/.test(name));
}

function nearestOf(name: string, settings: readonly string[]): string | undefined {
  const upper = name.toUpperCase();
  if (upper.startsWith(prefix)) {
    const unprefixed = settings.find((setting) => `${prefix}${setting}` === upper);
    if (unprefixed !== undefined) return unprefixed;
  }
  const [best] = settings
    .filter((setting) => setting.length >= minLength)
    .map((setting) => ({ setting, slips: slipsBetween(upper, setting) }))
    .filter(({ setting, slips }) => slips <= maxSlips(upper, setting))
    .sort((one, other) => one.slips - other.slips);
  return best?.setting;
}

function maxSlips(name: string, setting: string): number {
  if (name.startsWith(prefix)) return 3;
  return setting.length < 14 ? 1 : 2;
}

/** Characters left out, added, replaced, or swapped with the next one. */
function slipsBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isSwapped ? [(beforeLast[column - 2] ?? 0) + 1] : []),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? 0;
}
