// Names in the environment that are probably misspelt settings, each with the nearest right name.
import { nearestName } from '../../nearest-name.ts';

export type MisspeltSetting = { readonly name: string; readonly nearest?: string };

type Environment = Readonly<Record<string, string | undefined>>;

const prefix = 'MANDATE_';
/** The examples and the API page read these. */
const ofExamples = ['MANDATE_API_KEY', 'MANDATE_TOKEN', 'MANDATE_URL'];
/** Kubernetes and Docker links set these for a service that is called mandate. */
const ofContainers =
  /^[A-Z0-9_]+_(SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_[A-Z]+)?)?|NAME|ENV_.+)$/;
const containerAddress = /^(tcp|udp|sctp):\/\//;
/** A shorter name resembles too many others, unless it has the prefix or only two characters are swapped. */
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
  const isPrefixed = upper.startsWith(prefix);
  // MANDATE_PROT is near PORT, which has no prefix.
  const compared = (one: string) => (isPrefixed && one.startsWith(prefix) ? one.slice(prefix.length) : one);
  const isNear = (setting: string, slips: number): boolean => {
    const { length } = compared(setting);
    if (isPrefixed) return slips <= (length < minLength ? 1 : 3);
    if (length < minLength) return slips === 1 && hasSameCharacters(upper, setting);
    return slips <= (length < 14 ? 1 : 2);
  };
  return nearestName(upper, settings, compared, isNear);
}

function hasSameCharacters(one: string, other: string): boolean {
  return one.split('').sort().join() === other.split('').sort().join();
}
