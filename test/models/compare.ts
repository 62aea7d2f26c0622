// Whether the service and the model say the same. Refusals have no rank: the service names one of those that apply.
import type { ChargeDecision } from '../../src/retry-rules/domain/may-charge.ts';
import { microsOf } from './service.ts';
import type { Answer, Code } from './story.ts';

/** Undefined if they agree. */
export function differenceBetween(model: Answer, service: ChargeDecision): string | undefined {
  if (service.may) {
    if (model.refusals.length > 0) return `accepted, and the model refuses: ${model.refusals.join(', ')}`;
    const found = service.warnings.toSorted().join(', ');
    const expected = model.warnings.toSorted().join(', ');
    return found === expected
      ? undefined
      : `warns of ${found || 'nothing'}, the model of ${expected || 'nothing'}`;
  }
  if (!model.refusals.includes(service.code as Code)) {
    return `refused by ${service.code} (${service.rule}), the model says ${model.refusals.join(', ') || 'accepted'}`;
  }
  const named = service.retryAfter === undefined ? undefined : microsOf(service.retryAfter);
  return named === model.retryAfter
    ? undefined
    : `retryAfter ${shown(named)}, the model says ${shown(model.retryAfter)}`;
}

function shown(at: number | undefined): string {
  return at === undefined ? 'none' : new Date(at / 1000).toISOString();
}
