// mandate payments show: where a payment stands, what its bank and the recurring rules have said, and what to do.
import type { Instant } from '../../clock.ts';
import { buildService } from '../../app/compose.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { bankExchangesOf, type BankExchange } from '../../payments/domain/exchanges/bank-exchanges.ts';
import { publicStatus, type Payment } from '../../payments/domain/payment.ts';
import { paymentsOfInvoice, type PaymentOverview } from '../../payments/store/job-overview.ts';
import { recurringBody } from '../../recurring/api/schema.ts';
import { itemsBody } from '../../timeline/api/item-schema.ts';
import type { TimelineItem } from '../../timeline/domain/item.ts';
import { textIn } from '../../timeline/domain/text.ts';
import type { ChargeOfSeries, TimelineSources } from '../../timeline/port.ts';
import { readPaymentTimeline } from '../../timeline/payment-timeline.ts';
import { printTable, withFoundation } from '../foundation.ts';
import { nextSteps } from './next-steps.ts';
import { loggedToJson, notesOf, printLogged } from './logged-exchanges.ts';
import { duration, nextTryText, summaryOf, timeText } from './payment-text.ts';

export async function showPayment(
  invoice: string,
  number: string | undefined,
  options: { json?: true },
): Promise<void> {
  const found = await withFoundation((foundation) => load(foundation, invoice, number));
  const steps = nextSteps(found.one, found.operations);
  if (options.json) return console.log(JSON.stringify(toJson(found, steps), null, 2));
  print(found, steps);
}

async function load(foundation: Foundation, invoice: string, number: string | undefined) {
  const { database, ports } = foundation;
  // An ID of a job has a slash, one of a bank operation dots.
  const [invoiceId = '', paymentId = number] = invoice.split(/[/.]/);
  const payments = await paymentsOfInvoice(database, invoiceId, ports.clock.now());
  const one =
    paymentId === undefined ? payments.at(-1) : payments.find(({ payment }) => payment.id === paymentId);
  if (!one) {
    const known = payments.map(({ payment }) => payment.id).join(', ');
    throw new Error(
      payments.length === 0
        ? `Invoice ${invoiceId} not found, or without a payment. List payments with "mandate payments list".`
        : `Invoice ${invoiceId} has no payment ${paymentId}. Its payments: ${known}.`,
    );
  }
  const { items, facts, exchanges, charge } = await withTimeline(foundation, (timeline) =>
    readPaymentTimeline(timeline, database, one.payment, one.now),
  );
  return {
    one,
    others: payments.filter((other) => other !== one),
    operations: bankExchangesOf(one.payment, facts),
    logged: { exchanges, notes: await notesOf(database, exchanges) },
    recurring: charge,
    items,
  };
}

type Found = Awaited<ReturnType<typeof load>>;

async function withTimeline<T>(
  foundation: Foundation,
  read: (timeline: TimelineSources) => Promise<T>,
): Promise<T> {
  const { banks, timeline } = buildService(foundation);
  try {
    return await read(timeline);
  } finally {
    await banks.stop();
  }
}

function toJson({ one, operations, logged, recurring, items }: Found, steps: readonly string[]) {
  const { payment } = one;
  return {
    payment: summaryOf(one),
    externalId: payment.externalId ?? null,
    card: cardText(payment) ?? null,
    terminalId: payment.terminal.id,
    deadline: payment.deadline,
    failure: payment.state.name === 'failed' ? payment.state.failure : null,
    exchanges: operations.map(({ amount, terminal, ...exchange }) => ({
      ...exchange,
      ...(amount ? { amountMinor: Number(amount.minor) } : {}),
      bankId: terminal.bankId,
      terminalId: terminal.id,
    })),
    ...loggedToJson(logged),
    recurring: recurring
      ? {
          seriesId: recurring.seriesId,
          decided: recurring.decided ?? null,
          now: recurringBody(recurring.found),
        }
      : null,
    timeline: itemsBody(items, 'en'),
    nextSteps: steps,
  };
}

function print({ one, others, operations, logged, recurring, items }: Found, steps: readonly string[]): void {
  printState(one);
  console.log('\nBank operations');
  printTable(
    ['  operation', 'kind', 'amount', 'bank', 'started', 'ended', 'outcome'],
    operations.map((exchange) => [
      `  ${exchange.operationId}`,
      exchange.kind,
      exchange.amount ? `${exchange.amount.minor} ${exchange.amount.currency}` : '',
      exchange.terminal.bankId,
      exchange.startedAt.slice(0, 19),
      exchange.endedAt?.slice(0, 19) ?? '',
      outcomeText(exchange, one),
    ]),
  );
  printLogged(logged);
  if (recurring) printRecurring(recurring, one.now);
  printTimeline(items);
  if (others.length > 0) {
    console.log('\nOther payments of the invoice');
    for (const { payment } of others)
      console.log(`  ${payment.invoiceId}/${payment.id}  ${payment.state.name}`);
  }
  console.log('\nWhat to do');
  for (const step of steps) console.log(`  ${step}`);
}

function printState(one: PaymentOverview): void {
  const { payment, now } = one;
  const { invoiceId, id, partyId, shopId, amount, terminal, state, flow, deadline } = payment;
  printLines([
    ['payment', `${invoiceId}/${id}`],
    ['state', `${state.name} (the merchant sees "${publicStatus[state.name]}")`],
    ['failure', state.name === 'failed' ? state.failure.join(', ') : undefined],
    ['amount', `${amount.minor} ${amount.currency}, ${flow.type === 'hold' ? 'held first' : 'in one step'}`],
    ['card', cardText(payment)],
    ['shop', `${shopId} of party ${partyId}`],
    ['external ID', payment.externalId],
    ['terminal', `${terminal.id} of bank ${terminal.bankId}`],
    ['created', `${timeText(payment.createdAt)} (${duration(now, payment.createdAt)} ago)`],
    [
      'deadline',
      state.name === 'authorising' ? `${timeText(deadline)}: then the charge is reversed` : undefined,
    ],
    [
      'waiting',
      one.isWaiting ? `${duration(now, one.changedAt)}, since ${timeText(one.changedAt)}` : undefined,
    ],
    ['tries', one.isWaiting ? `${one.attempts} of 15` : undefined],
    ['last failure', one.lastFailure ?? undefined],
    ['stuck', one.stuckSince === null ? undefined : `since ${timeText(one.stuckSince)}`],
    ['next try', nextTryText(one) || undefined],
  ]);
}

function printRecurring({ seriesId, decided, found }: ChargeOfSeries, now: Instant): void {
  const body = recurringBody(found);
  const { decision } = found;
  const { refusal } = body;
  const answer = [decided?.network, decided?.code, decided?.advice && `advice ${decided.advice}`];
  const until = decision.may ? undefined : decision.retryAfter;
  console.log('\nRecurring rules');
  printLines([
    ['  series', `${seriesId}, ${body.status}`],
    [
      '  allowed as',
      decided && `${decided.isRetry ? 'a retry' : 'a new charge'} by ${decided.packs.join(', ')}`,
    ],
    ['  outcome', decided && [decided.outcome, ...answer].filter((word) => word).join(' ')],
    [
      '  decided',
      decided?.effect ? `${decided.effect}, by rule ${decided.rule} of ${decided.pack}` : undefined,
    ],
    ['  failing since', body.failingSince && timeText(body.failingSince)],
    [
      '  now',
      refusal
        ? `refused: ${refusal.code}, by rule ${refusal.rule} of ${refusal.rulePack}`
        : `another charge is allowed${body.warnings.length > 0 ? `, with ${body.warnings.join(', ')}` : ''}`,
    ],
    [
      '  next charge',
      refusal &&
        (until === undefined
          ? 'not by waiting: it needs a new consent, card or invoice, or the outcome of the charge in progress'
          : `from ${timeText(until)} (in ${duration(until, now)})`),
    ],
  ]);
}

/** The lines that a merchant reads over the API. */
function printTimeline(items: readonly TimelineItem[]): void {
  console.log('\nTimeline');
  printTable(
    ['  at', 'kind', 'took', 'amount', 'what'],
    items.map(({ at, kind, durationMs, amount, text }) => [
      `  ${at.slice(0, 19)}`,
      kind,
      durationMs === undefined ? '' : `${durationMs} ms`,
      amount ? `${amount.minor} ${amount.currency}` : '',
      textIn('en', text),
    ]),
  );
}

function outcomeText({ outcome, approval, failure, note }: BankExchange, one: PaymentOverview): string {
  const words = {
    open: one.isWaiting ? 'UNKNOWN' : 'sent',
    payerNeeded: 'waits for the payer',
    approved: approval ? `approved, reference ${approval.reference}` : 'approved',
    declined: `declined: ${failure?.join(', ') ?? ''}`,
    notDone: 'given up',
  } as const;
  return [words[outcome], note].filter((text) => text !== undefined).join('; ');
}

/** Never more of a card than a receipt shows. */
function cardText({ payer }: Payment): string | undefined {
  return 'card' in payer ? `${payer.card.paymentSystem}, ends with ${payer.card.lastDigits}` : undefined;
}

function printLines(lines: readonly (readonly [string, string | undefined])[]): void {
  const said = lines.filter((line): line is readonly [string, string] => line[1] !== undefined);
  const width = Math.max(...said.map(([name]) => name.length));
  for (const [name, value] of said) console.log(`${name.padEnd(width)}  ${value}`);
}
