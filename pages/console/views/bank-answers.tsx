// How long each bank takes to answer, and what it does not answer, as lines over a day or a month.
import { countText, percentText } from '../formats.ts';
import { filter, place } from '../place.ts';
import { useRead } from '../read.ts';
import { shareOf } from '../today/figures.ts';
import { Lines, Plot, Rates } from '../today/plots.tsx';
import { fill, locale, say } from '../words/words.ts';
import { Whole } from './parts.tsx';

type Part = {
  readonly at: string;
  readonly operations: number;
  readonly unanswered: number;
  readonly open: number;
  readonly answered: number;
  readonly halfWithinMs: number | null;
  readonly mostWithinMs: number | null;
};
type Answers = { readonly bankId: string; readonly hours: readonly Part[]; readonly days: readonly Part[] };

export function BankAnswers() {
  const { banks: words, today, payments } = say();
  const answers = useRead<readonly Answers[]>('/operator/bank-answers');
  const unit = place.value.query['days'] === '30' ? 'days' : 'hours';
  return (
    <Whole of={answers}>
      {(all) =>
        all.length > 0 && (
          <>
            <form class="filters" onSubmit={(event) => event.preventDefault()}>
              <div class="choices">
                <label>
                  {payments.period}
                  <select
                    value={unit === 'days' ? '30' : '1'}
                    onChange={(event) => filter({ days: (event.currentTarget as HTMLSelectElement).value })}
                  >
                    <option value="1">{words.lastDay}</option>
                    <option value="30">{today.days['30']}</option>
                  </select>
                </label>
              </div>
            </form>
            <div class="plots">
              {all.map((bank) => (
                <OfBank bankId={bank.bankId} parts={bank[unit]} unit={unit} />
              ))}
            </div>
            <p class="foot soft">{words.answersFoot}</p>
          </>
        )
      }
    </Whole>
  );
}

function OfBank({
  bankId,
  parts,
  unit,
}: {
  readonly bankId: string;
  readonly parts: readonly Part[];
  readonly unit: 'hours' | 'days';
}) {
  const { banks: words, today } = say();
  const shown = parts.map((part) => ({ ...part, label: labelOf(part.at, unit) }));
  const used = shown.filter(({ operations }) => operations > 0);
  const time = { head: today.part, cell: ({ label }: { readonly label: string }) => label };
  return (
    <>
      <Plot
        head={fill(words.answerTime, { bank: bankId })}
        lead={words.answerTimeLead}
        rows={used}
        columns={[
          time,
          { head: words.answered, cell: ({ answered }) => countText(answered), isNumber: true },
          { head: words.half, cell: ({ halfWithinMs }) => withinText(halfWithinMs), isNumber: true },
          { head: words.most, cell: ({ mostWithinMs }) => withinText(mostWithinMs), isNumber: true },
        ]}
      >
        <Lines
          name={fill(words.answerTime, { bank: bankId })}
          names={[words.half, words.most]}
          text={withinText}
          parts={shown.map(({ label, halfWithinMs, mostWithinMs }) => ({
            label,
            values: [halfWithinMs, mostWithinMs],
          }))}
        />
      </Plot>
      <Plot
        head={fill(words.unanswered, { bank: bankId })}
        lead={words.unansweredLead}
        rows={used}
        columns={[
          time,
          { head: words.operations, cell: ({ operations }) => countText(operations), isNumber: true },
          { head: words.withoutAnswer, cell: ({ unanswered }) => countText(unanswered), isNumber: true },
          { head: words.openNow, cell: ({ open }) => countText(open), isNumber: true },
        ]}
      >
        <Rates
          name={fill(words.unanswered, { bank: bankId })}
          parts={shown.map(({ label, unanswered, operations, open }) => ({
            label,
            share: shareOf(unanswered, operations - open),
          }))}
        />
        <p class="soft">{totalText(used)}</p>
      </Plot>
    </>
  );
}

function totalText(parts: readonly Part[]): string {
  const sum = (what: 'operations' | 'open' | 'unanswered') =>
    parts.reduce((all, part) => all + part[what], 0);
  const ended = sum('operations') - sum('open');
  const { rate } = shareOf(sum('unanswered'), ended);
  const counts = fill(say().today.outOf, { part: countText(sum('unanswered')), of: countText(ended) });
  return rate === undefined ? counts : `${percentText(rate)} (${counts})`;
}

/** The bounds that answers are counted by; a longer answer has none. */
function withinText(ms: number | null): string {
  const { within, longer } = say().banks;
  if (ms === null) return '';
  return ms > 30_000 ? longer : fill(within, { ms: countText(ms) });
}

function labelOf(at: string, unit: 'hours' | 'days'): string {
  const shown: Intl.DateTimeFormatOptions =
    unit === 'hours' ? { timeStyle: 'short' } : { day: 'numeric', month: 'short' };
  return new Date(at).toLocaleString(locale.value, { ...shown, timeZone: 'UTC' });
}
