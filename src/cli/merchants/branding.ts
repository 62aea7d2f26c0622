// mandate shop branding: how the pages for payers look.
import { readFile } from 'node:fs/promises';
import { accentProblem, imageTypeOf, logoProblem, type Branding } from '../../merchants/domain/branding.ts';
import { originOf } from '../../merchants/domain/party.ts';
import { findBranding, storeBranding } from '../../merchants/store/branding.ts';
import { requireShop, withFoundation } from '../foundation.ts';

type Options = {
  readonly party: string;
  readonly accent?: string;
  readonly logo?: string;
  readonly terms?: string;
  readonly privacy?: string;
};

const none = 'none';
const maxUrl = 500;

/** Without options it only prints. */
export async function shopBranding(shopId: string, options: Options): Promise<void> {
  const { party: partyId } = options;
  const changes = {
    ...change('accent', options.accent, accentOf),
    ...change('logo', options.logo && (await logoIn(options.logo)), (logo) => logo),
    ...change('termsUrl', options.terms, (url) => urlOf('--terms', url)),
    ...change('privacyUrl', options.privacy, (url) => urlOf('--privacy', url)),
  };
  await withFoundation(async ({ database }) => {
    await requireShop(database, partyId, shopId);
    const name = { partyId, shopId };
    const branding: Branding = { ...(await findBranding(database, name)), ...changes };
    if (Object.keys(changes).length > 0) await storeBranding(database, name, branding);
    const { logo, accent, termsUrl: terms, privacyUrl: privacy } = branding;
    const printedLogo = logo && `${imageTypeOf(logo)}, ${logo.length} bytes`;
    console.log(JSON.stringify({ accent, logo: printedLogo, terms, privacy }, null, 2));
  });
}

/** Nothing if the option is not given, and undefined if it takes the value away. */
function change<Given, Value>(
  member: keyof Branding,
  given: Given | typeof none | undefined,
  read: (given: Given) => Value,
) {
  if (given === undefined) return {};
  return { [member]: given === none ? undefined : read(given as Given) };
}

function accentOf(accent: string): string {
  const problem = accentProblem(accent);
  if (problem !== undefined) throw new Error(`--accent "${accent}" ${problem}`);
  return accent.toLowerCase();
}

async function logoIn(file: string): Promise<Buffer | typeof none> {
  if (file === none) return none;
  const logo = await readFile(file).catch(() => {
    throw new Error(`--logo "${file}" cannot be read. Name a file, or "${none}".`);
  });
  const problem = logoProblem(logo);
  if (problem !== undefined) throw new Error(`--logo "${file}" ${problem}`);
  return logo;
}

function urlOf(option: string, url: string): string {
  if (originOf(url) === undefined || url.length > maxUrl)
    throw new Error(
      `${option} "${url}" is not an address of at most ${maxUrl} characters. Begin it with https://.`,
    );
  return url;
}
