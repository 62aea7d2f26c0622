// The banks of the service: how each is connected, and what metrics and log say of it.
import { openHttpBank } from '../../acquiring/adapters/http/http-bank.ts';
import { openBanks, type Banks } from '../../acquiring/banks.ts';
import { callbackUrlOf } from '../../acquiring/callbacks.ts';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { watchSilentKinds } from '../../acquiring/health/silent-kinds.ts';
import { instantAt, type Instant } from '../../clock.ts';
import type { Metrics } from '../../platform/http/metrics.ts';
import { declineClassOf } from '../../retry-rules/domain/rule-packs.ts';
import type { Foundation } from './foundation.ts';

export function openServiceBanks(
  { config, ports, log, database, keyring, vault }: Foundation,
  metrics: Metrics,
  publicUrl: () => string,
): Banks {
  const { clock } = ports;
  const hearKind = watchSilentKinds(log);
  return openBanks({
    db: database,
    lookups: database.lookups,
    clock,
    keyring,
    adapterFor: ({ id, url, secret, abilities }, onSaid) =>
      openHttpBank({
        url,
        secret,
        lastSaid: abilities,
        onSaid,
        clock,
        log,
        workers: config.workers === 'auto' ? 1 : config.workers,
        detokeniseCard: (card) => vault.detokenise(card),
        callbackUrl: callbackUrlOf(publicUrl(), id),
        ...(ports.network ? { openLink: ports.network.openLink } : {}),
        ...(config.mode === 'sandbox' ? { allowPlainHttp: true } : {}),
      }),
    observe: (bankId, operation, answer, seconds) => {
      metrics.observeBank(bankId, operation, answer.outcome, seconds);
      hearKind(bankId, operation, answer);
      if (operation === 'authorise' && isMisconfigured(answer, clock.now())) {
        metrics.countMisconfigured(bankId);
        log.warn({ bank: bankId, network: answer.network, code: answer.code }, 'configuration decline');
      }
    },
    onHealth: ({ bankId, sinceMs, because }, is) =>
      log.warn(
        { bank: bankId, since: instantAt(sinceMs), because },
        is === 'away' ? 'bank away' : 'bank back',
      ),
    onHeld: (bank, because, until) => log.error({ bank, because, until }, 'charges held'),
    onPaused: ({ id, bankId }, { operationId, network, code }, until) =>
      log.error(
        { terminal: id, bank: bankId, operation: operationId, network, code, until },
        'terminal paused',
      ),
  });
}

/** The bank declines because of the merchant's set-up or the message, not because of the card. */
function isMisconfigured(
  answer: BankResponse,
  now: Instant,
): answer is BankResponse & { outcome: 'declined' } {
  return answer.outcome === 'declined' && declineClassOf(answer, now) === 'configuration';
}
