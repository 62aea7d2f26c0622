// The shapes of dunning policies in the API.
import { Type, type Static } from 'typebox';
import { defined } from '../../defined.ts';
import { DateTime, EntityID } from '../../platform/http/schemas.ts';
import { healedByTime, type ClassRule, type DunningPolicy } from '../domain/dunning/dunning.ts';
import type { SavedPolicy } from '../store/dunning-policies.ts';

export const PolicyName = Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$' });
export const PolicyVersion = Type.Integer({ minimum: 1, maximum: 1_000_000 });
export const ifUnpaids = ['unpaid', 'end', 'pause'] as const;

const day = (minimum: number, maximum = 31) => Type.Integer({ minimum, maximum });
const days = (minimum: number) => Type.Array(day(minimum), { maxItems: 31 });
const localTime = Type.String({ pattern: '^\\d\\d:\\d\\d$' });

const RuleOfClass = Type.Object(
  {
    tries: Type.Optional(days(1)),
    maxTries: Type.Optional(day(0)),
    onDays: Type.Optional({ ...days(1), description: 'Days of the month.' }),
    within: Type.Optional({ ...day(1, 30), default: 3 }),
  },
  { title: 'DunningClass' },
);

const members = {
  tries: { ...days(1), description: 'Days after the first failure.' },
  windowDays: day(1),
  at: Type.Optional(Type.Object({ from: localTime, until: localTime })),
  byClass: Type.Optional(
    Type.Object({
      funds: Type.Optional(RuleOfClass),
      vague: Type.Optional(RuleOfClass),
      issuer: Type.Optional(RuleOfClass),
      technical: Type.Optional(RuleOfClass),
    }),
  ),
  emailDays: Type.Optional(days(0)),
  ifUnpaid: Type.Optional(Type.Enum([...ifUnpaids], { default: 'unpaid' })),
  stack: Type.Optional(Type.Boolean({ default: false })),
  trial: Type.Optional(
    Type.Object(
      { policy: PolicyName, percent: day(1, 99) },
      { description: 'A share has the other policy.' },
    ),
  ),
};

export const PolicyParams = Type.Object(members, { title: 'DunningPolicyParams' });
export type PolicyParams = Static<typeof PolicyParams>;

export const PolicySchema = Type.Object(
  { name: PolicyName, version: PolicyVersion, createdAt: DateTime, ...members },
  { title: 'DunningPolicy' },
);

export const PoliciesPath = Type.Object({ shopID: EntityID });
export const PolicyPath = Type.Object({ shopID: EntityID, policyName: PolicyName });

export const policyExample = {
  tries: [1, 3],
  windowDays: 20,
} satisfies PolicyParams;

export function policyFrom(name: string, body: PolicyParams): DunningPolicy {
  const { tries, windowDays, at = { from: '06:00', until: '10:00' }, byClass = {}, stack, trial } = body;
  const { emailDays = [0, 5, 14, 24].filter((after) => after <= windowDays), ifUnpaid = 'unpaid' } = body;
  return {
    name,
    version: 1,
    tries,
    at: { from: at.from, until: at.until },
    byClass: Object.fromEntries(
      healedByTime.flatMap((of) => (byClass[of] ? [[of, classFrom(byClass[of])]] : [])),
    ),
    windowDays,
    emailDays,
    finally: ifUnpaid,
    ...(stack ? { stack } : {}),
    ...defined({ trial: trial && { policy: trial.policy, percent: trial.percent } }),
  };
}

function classFrom({ tries, maxTries, onDays, within = 3 }: Static<typeof RuleOfClass>): ClassRule {
  return defined({ tries, maxTries, onDays: onDays && { days: onDays, within } });
}

export function policyBody({ policy, createdAt }: SavedPolicy): Static<typeof PolicySchema> {
  const { name, version, tries, windowDays, at, byClass = {}, emailDays = [], stack = false, trial } = policy;
  return {
    name,
    version,
    createdAt,
    tries: [...tries],
    windowDays,
    at,
    byClass: Object.fromEntries(Object.entries(byClass).map(([of, rule]) => [of, classBody(rule)])),
    emailDays: [...emailDays],
    ifUnpaid: policy.finally,
    stack,
    ...defined({ trial }),
  };
}

function classBody({ tries, maxTries, onDays }: ClassRule): Static<typeof RuleOfClass> {
  return defined({
    tries: tries && [...tries],
    maxTries,
    onDays: onDays && [...onDays.days],
    within: onDays?.within,
  });
}
