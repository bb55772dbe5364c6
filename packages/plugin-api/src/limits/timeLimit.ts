/** A timer for longer than this fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * A signal that fires after so many milliseconds, which may be more than a timer can wait. Unlike that of `AbortSignal.timeout` it does so
 * also where nothing but `AbortSignal.any` has it: Node 20 collects such a one as garbage, and the time is never over.
 */
export function timeLimit(ms: number): AbortSignal {
	const controller = new AbortController();
	const end = performance.now() + ms;
	const waitOn = () => {
		const left = end - performance.now();
		if (left <= 0) controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
		else setTimeout(waitOn, Math.min(left, maxTimerMs)).unref();
	};
	waitOn();
	return controller.signal;
}
