// Providers of wallets, their identity classes, and the types of identification that raise a level.

export type IdentityClass = { readonly id: string; readonly name: string };
export type Provider = {
  readonly id: string;
  readonly name: string;
  /** ISO 3166-1 alpha-3. */
  readonly residences: readonly string[];
  readonly classes: readonly IdentityClass[];
};

const person: IdentityClass = { id: 'person', name: 'Person' };
const company: IdentityClass = { id: 'company', name: 'Company' };

const testProvider: Provider = {
  id: 'test',
  name: 'Test provider',
  residences: ['RUS'],
  classes: [person, company],
};
const productionProvider: Provider = {
  id: 'dpl',
  name: 'Payout provider',
  residences: ['RUS'],
  classes: [company, person],
};

/** The sandbox has both, so that the provider of live mode can be tried. Live mode has no test money. */
export function providersOf(livemode: boolean): readonly Provider[] {
  return !livemode ? [testProvider, productionProvider] : [productionProvider];
}

/** Wallets of its identities open with a deposit of test money. */
export const testProviderId = testProvider.id;

export const residences = [{ id: 'RUS', name: 'Russian Federation', flag: '🇷🇺' }] as const;

export const levels = ['anonymous', 'partial', 'identified'] as const;
export type Level = (typeof levels)[number];

export const proofTypes = ['RUSDomesticPassport', 'RUSRetireeInsuranceCertificate'] as const;

export type ChallengeType = {
  readonly from: readonly Level[];
  readonly to: Level;
  readonly needs: readonly (typeof proofTypes)[number][];
};

export const challengeTypes: Readonly<Record<string, ChallengeType>> = {
  /** In a register of citizens. */
  esia: { from: ['anonymous'], to: 'partial', needs: ['RUSDomesticPassport'] },
  /** Face to face. */
  'in-person': { from: ['anonymous', 'partial'], to: 'identified', needs: ['RUSDomesticPassport'] },
};
