// Says once that a bank does not answer one kind of request while it answers others, and once that it does again. Such a bank is not away,
// and the jobs that wait for it log at `debug`.
import type { Logger } from '../../platform/log.ts';
import type { BankResponse } from '../domain/bank-port.ts';
import type { Asked } from './observed-bank.ts';

type Silence = { othersAnswered: boolean; isLogged: boolean };

export function watchSilentKinds(log: Pick<Logger, 'warn'>) {
  const ofBanks = new Map<string, Map<Asked, Silence>>();
  return (bank: string, kind: Asked, answer: BankResponse): void => {
    const silent = ofBanks.get(bank) ?? new Map<Asked, Silence>();
    ofBanks.set(bank, silent);
    const silence = silent.get(kind);
    if (answer.outcome === 'unknown' && answer.isSilence) {
      if (!silence) silent.set(kind, { othersAnswered: false, isLogged: false });
      else if (silence.othersAnswered && !silence.isLogged) {
        silence.isLogged = true;
        log.warn({ bank, kind, because: answer.why }, 'bank does not answer');
      }
    } else if (answer.outcome !== 'unknown' && answer.outcome !== 'notSent') {
      silent.delete(kind);
      if (silence?.isLogged) log.warn({ bank, kind }, 'bank answers again');
      for (const other of silent.values()) other.othersAnswered = true;
    }
  };
}
