// mandate shop recurring: settings of a shop for recurring charges.
import { givesAnyNumberAway } from '../../cards/domain/card.ts';
import { amountRuleIn, type AmountRule } from '../../receipts/domain/terms.ts';
import { isDate } from '../../retry-rules/domain/calendar.ts';
import { isTimeZone } from '../../retry-rules/domain/time-zones.ts';
import { scheduleProblem } from '../../recurring/domain/mandate.ts';
import { timeZoneOf, type Duties, type RecurringSettings } from '../../recurring/domain/settings.ts';
import { findSettings, storeSettings } from '../../recurring/store/settings.ts';
import { requireShop, wholeNumber, withFoundation } from '../foundation.ts';
import { defined } from '../../defined.ts';

type Options = {
  party: string;
  schedule?: string;
  validUntil?: string;
  amountRule?: string;
  contact?: string;
  language?: 'en' | 'ru';
  timeZone?: string;
  periodRule?: 'warn' | 'refuse';
  enforceAmount?: 'yes' | 'no';
  enforceMaxGap?: 'yes' | 'no';
  requireConsentEvidence?: 'yes' | 'no';
  needsApiKey?: 'yes' | 'no';
  pauseByPayer?: 'yes' | 'no';
  newCardByPayer?: 'yes' | 'no';
  announceEach?: string;
  subscriptionEmails?: 'service' | 'merchant';
  chargeUnannounced?: 'yes' | 'no';
};

const maxAnnounceHours = 720;

/** Without options it only prints the settings. */
export async function setRecurring(shopId: string, options: Options): Promise<void> {
  const { party: partyId, schedule, validUntil, contact, language, timeZone, periodRule } = options;
  if (validUntil !== undefined && !isDate(validUntil))
    throw new Error(`--valid-until "${validUntil}" is not a day. Write it as 2030-12-31.`);
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw new Error(`Unknown --time-zone "${timeZone}". Use an IANA name such as Europe/Moscow.`);
  // The value is not quoted: it may contain a card number.
  const ofSchedule = schedule === undefined ? undefined : scheduleProblem(schedule);
  if (ofSchedule !== undefined) throw new Error(`--schedule ${ofSchedule}. Use P1M, or words.`);
  const amountRule = options.amountRule === undefined ? undefined : amountRuleOf(options.amountRule);
  await withFoundation(async ({ database }) => {
    const { currency } = await requireShop(database, partyId, shopId);
    const name = { partyId, shopId };
    const before = await findSettings(database, name);
    const duties = { ...before.duties, ...dutiesOf(options) };
    const terms = { ...before.terms, ...defined({ schedule, validUntil, amountRule }) };
    const settings: RecurringSettings = {
      ...before,
      ...(Object.keys(terms).length === 0 ? {} : { terms }),
      ...(Object.keys(duties).length === 0 ? {} : { duties }),
      ...defined({ contact, language, timeZone, periodRule }),
      ...flag('enforceAmount', options.enforceAmount),
      ...flag('enforceMaxGap', options.enforceMaxGap),
      ...flag('requireConsentEvidence', options.requireConsentEvidence),
      ...flag('needsApiKey', options.needsApiKey),
      ...flag('pauseByPayer', options.pauseByPayer),
      ...flag('newCardByPayer', options.newCardByPayer),
    };
    await storeSettings(database, name, settings);
    console.log(JSON.stringify({ ...settings, timeZone: timeZoneOf(settings, currency) }, null, 2));
  });
}

function dutiesOf({ announceEach, subscriptionEmails: emailsBy, chargeUnannounced }: Options): Duties {
  return defined({
    announceEachHours:
      announceEach === undefined
        ? undefined
        : wholeNumber('--announce-each', announceEach, 0, maxAnnounceHours),
    emailsBy,
    chargeUnannounced: chargeUnannounced === undefined ? undefined : chargeUnannounced === 'yes',
  });
}

/** An error does not quote the value: it may contain a card number. */
function amountRuleOf(text: string): AmountRule {
  const rule = amountRuleIn(text);
  if (!rule)
    throw new Error(
      'Unknown --amount-rule. Use fixed:29900 or upTo:100000 in minor units, or variable:words.',
    );
  if (rule.kind === 'variable' && givesAnyNumberAway(rule.text))
    throw new Error('--amount-rule must not contain a card number.');
  return rule;
}

function flag(name: keyof RecurringSettings, given: 'yes' | 'no' | undefined) {
  return given === undefined ? {} : { [name]: given === 'yes' };
}
