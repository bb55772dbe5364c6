export interface Throttled {
	(): void;
	/** Discards the waiting call. */
	cancel(): void;
}

/** Calls `action` at once, then at most every `ms`. The last call is never lost: it is made after the interval. */
export function throttle(ms: number, action: () => void): Throttled {
	let timer: NodeJS.Timeout | undefined;
	let isWaiting = false;
	const next = () => {
		timer = undefined;
		if (!isWaiting) return;
		run();
	};
	const run = () => {
		isWaiting = false;
		timer = setTimeout(next, ms).unref();
		action();
	};
	const call = () => {
		if (timer === undefined) run();
		else isWaiting = true;
	};
	return Object.assign(call, {
		cancel() {
			clearTimeout(timer);
			isWaiting = false;
		},
	});
}
