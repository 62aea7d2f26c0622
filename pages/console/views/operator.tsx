// What an operator sees of the whole service: jobs that need them, and banks.
import { timeText } from '../formats.ts';
import { useRead } from '../read.ts';
import { fill, say } from '../words/words.ts';
import { BankAnswers } from './bank-answers.tsx';
import { Empty, Heading, Link, Status, Table, Time, Whole } from './parts.tsx';

type Job = { readonly kind: string; readonly id: string; readonly partyId: string; readonly reason: string };
type StuckJob = Job & { readonly since: string };
type FailingJob = Job & { readonly attempts: number; readonly nextTryAt: string };
type Bank = {
  readonly bankId: string;
  readonly url: string;
  readonly terminals: number;
  readonly isShared: boolean;
  readonly stoppedAt: string | null;
  readonly stoppedBecause: string | null;
  readonly checkedAt: string | null;
  readonly checkProblem: string | null;
  readonly awaySince: string | null;
  readonly awayBecause: string | null;
  readonly chargesHeldUntil: string | null;
  readonly chargesHeldBecause: 'technical' | 'vague' | null;
};

export function Jobs() {
  const { nav, jobs: words } = say();
  const stuck = useRead<readonly StuckJob[]>('/operator/stuck-jobs');
  const failing = useRead<readonly FailingJob[]>('/operator/failing-jobs');
  return (
    <>
      <Heading text={nav.jobs} lead={words.lead} />
      <Whole of={stuck}>
        {(all) =>
          all.length === 0 ? (
            <Empty text={words.empty} help={words.emptyHelp} />
          ) : (
            <Table
              caption={nav.jobs}
              rows={all}
              columns={[
                { head: words.id, cell: (job) => <JobName job={job} /> },
                { head: words.since, cell: ({ since }) => <Time at={since} /> },
                { head: words.reason, cell: ({ reason }) => reason },
                { head: words.party, cell: ({ partyId }) => partyId, isMinor: true },
              ]}
            />
          )
        }
      </Whole>
      <section>
        <h2>{words.failing}</h2>
        <Whole of={failing}>
          {(all) =>
            all.length === 0 ? (
              <Empty text={words.noFailing} />
            ) : (
              <Table
                caption={words.failing}
                rows={all}
                columns={[
                  { head: words.id, cell: (job) => <JobName job={job} /> },
                  { head: words.tries, cell: ({ attempts }) => attempts, isNumber: true },
                  { head: words.reason, cell: ({ reason }) => reason },
                  { head: words.next, cell: ({ nextTryAt }) => <Time at={nextTryAt} />, isMinor: true },
                  { head: words.party, cell: ({ partyId }) => partyId, isMinor: true },
                ]}
              />
            )
          }
        </Whole>
      </section>
    </>
  );
}

/** A payment and a payout have pages. */
function JobName({ job: { kind, id, partyId: party } }: { readonly job: Job }) {
  const name = `${kind} ${id}`;
  const [invoiceId = '', paymentId = ''] = id.split('/');
  if (kind === 'payment')
    return (
      <Link to={['payments', invoiceId, paymentId]} filters={{ party }}>
        {name}
      </Link>
    );
  if (kind !== 'withdrawal') return <>{name}</>;
  return (
    <Link to={['payouts', id]} filters={{ party }}>
      {name}
    </Link>
  );
}

export function Banks() {
  const { nav, banks: words } = say();
  const banks = useRead<readonly Bank[]>('/operator/banks');
  return (
    <>
      <Heading text={nav.banks} lead={words.lead} />
      <Whole of={banks}>
        {(all) =>
          all.length === 0 ? (
            <Empty text={words.empty} help={words.emptyHelp} />
          ) : (
            <Table
              caption={nav.banks}
              rows={all}
              columns={[
                { head: words.bank, cell: ({ bankId }) => bankId },
                { head: words.reachable, cell: stateOf },
                { head: words.report, cell: reportText },
                { head: words.terminals, cell: ({ terminals }) => terminals, isMinor: true, isNumber: true },
                { head: words.address, cell: ({ url }) => url, isMinor: true },
              ]}
            />
          )
        }
      </Whole>
      <BankAnswers />
    </>
  );
}

function Reachable({ bank: { awaySince, awayBecause } }: { readonly bank: Bank }) {
  if (awaySince === null) return <Status of="reachable" />;
  const since = fill(say().banks.awaySince, { time: timeText(awaySince), why: awayBecause ?? '' });
  return (
    <>
      <Status of="away" /> <span class="soft">{since}</span>
    </>
  );
}

/** A bank that is reached may still get no charges that Mandate begins by itself. */
function stateOf(bank: Bank) {
  const { chargesHeldUntil: until, chargesHeldBecause: because } = bank;
  if (until === null || because === null) return <Reachable bank={bank} />;
  const { chargesHeld, heldBecause } = say().banks;
  return (
    <>
      <Reachable bank={bank} />{' '}
      <span class="soft">{fill(chargesHeld, { time: timeText(until), why: heldBecause[because] })}</span>
    </>
  );
}

function reportText({ stoppedAt, stoppedBecause, checkProblem, isShared, checkedAt }: Bank): string {
  const { banks: words } = say();
  if (stoppedAt !== null)
    return fill(words.stopped, { time: timeText(stoppedAt), why: stoppedBecause ?? '' });
  if (checkProblem !== null) return checkProblem;
  if (isShared) return words.shared;
  return checkedAt === null ? words.notChecked : fill(words.checked, { time: timeText(checkedAt) });
}
