import type { Failure } from '@stowage/rules';
import type { Log } from '../log.js';

/** How often a refusal that keeps coming is logged. */
const intervalMs = 10_000;

/** Where a refusal happened, in words that are few: the route, not the address. */
interface Place {
	method: string;
	path: string;
}

/**
 * Logs refusals that are the server's fault (503, 507), in one line and without a stack: the first of its kind and route at once, those
 * after it as a count.
 */
export type FailureLog = (failure: Failure, place: Place) => void;

/** Timers keep no process alive; a server under load writes a line each ten seconds for each route. */
export function createFailureLog(log: Log): FailureLog {
	const counts = new Map<string, number>();
	const countLater = (key: string, line: object) => {
		counts.set(key, 0);
		setTimeout(() => {
			const count = counts.get(key) ?? 0;
			counts.delete(key);
			if (count === 0) return;
			log.warn({ ...line, count }, 'request refused again');
			countLater(key, line);
		}, intervalMs).unref();
	};
	return (failure, { method, path }) => {
		const key = `${failure.code} ${method} ${path}`;
		const count = counts.get(key);
		if (count !== undefined) {
			counts.set(key, count + 1);
			return;
		}
		const line = { code: failure.code, method, path };
		const cause = failure.cause instanceof Error ? { cause: failure.cause.message } : {};
		log.warn({ ...line, ...cause, reason: failure.message }, 'request refused');
		countLater(key, line);
	};
}
