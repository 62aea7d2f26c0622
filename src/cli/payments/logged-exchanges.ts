// What the exchange log has about a payment: each operation as it was sent, what its bank proved, and what the bank reported since.
import type { Exchange } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import { notesAbout, type NoteRow } from '../../acquiring/exchange-log/store/notes.ts';
import type { Database } from '../../platform/database/database.ts';
import { printTable } from '../foundation.ts';

type Logged = { readonly exchanges: readonly Exchange[]; readonly notes: readonly NoteRow[] };

export function notesOf(db: Database, exchanges: readonly Exchange[]): Promise<NoteRow[]> {
  return notesAbout(
    db,
    exchanges.map(({ operationId }) => operationId),
  );
}

export function loggedToJson({ exchanges, notes }: Logged) {
  return {
    exchangeLog: exchanges.map(({ amount, digest: _, answer, heardAt, notAfter, ...exchange }) => ({
      ...exchange,
      amountMinor: amount ? Number(amount.minor) : null,
      notAfter: notAfter ?? null,
      heardAt: heardAt ?? null,
      answer: answer ?? null,
    })),
    bankReports: notes.map(({ operation_id: operationId, what, meaning, heard, noted_at: notedAt }) => ({
      operationId,
      what,
      meaning,
      heard,
      notedAt,
    })),
  };
}

export function printLogged({ exchanges, notes }: Logged): void {
  if (exchanges.length > 0) {
    console.log('\nExchange log');
    printTable(
      ['  operation', 'state', 'begun', 'not after', 'heard', 'answer'],
      exchanges.map(({ operationId, state, begunAt, notAfter, heardAt, answer }) => [
        `  ${operationId}`,
        state,
        begunAt.slice(0, 19),
        notAfter?.slice(0, 19) ?? '',
        heardAt?.slice(0, 19) ?? '',
        answer ? answerText(answer) : '',
      ]),
    );
  }
  if (notes.length === 0) return;
  console.log('\nReported by the bank');
  printTable(
    ['  operation', 'what', 'at', 'result'],
    notes.map(({ operation_id: operationId, what, meaning, heard, noted_at: at }) => [
      `  ${operationId}`,
      what,
      at.slice(0, 19),
      'why' in heard ? `${meaning}: ${String(heard.why)}` : meaning,
    ]),
  );
}

function answerText(answer: NonNullable<Exchange['answer']>): string {
  if (answer.outcome === 'approved') {
    const { reference, references } = answer;
    return ['reference', reference, ...(references?.acquirer ? [references.acquirer] : [])].join(' ');
  }
  const { network, code, class: helper, text, references: { rrn, acquirer } = {} } = answer;
  const names = [rrn, acquirer].filter((name) => name !== undefined);
  return [
    `${network} ${code}`,
    ...(text === undefined ? [] : [`"${text}"`]),
    ...(helper ? [`class ${helper}`] : []),
    ...(names.length > 0 ? [`reference ${names.join(' ')}`] : []),
  ].join(', ');
}
