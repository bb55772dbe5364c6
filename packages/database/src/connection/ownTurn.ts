const waiting: (() => void)[] = [];

function wakeNext(): void {
	waiting.shift()?.();
	if (waiting.length > 0) setImmediate(wakeNext);
}

/**
 * Resolves in a turn of the event loop of its own, for reads that keep this thread busy: however many wait, others
 * have their turns between two of them.
 */
export function ownTurn(): Promise<void> {
	return new Promise((resolve) => {
		if (waiting.push(resolve) === 1) setImmediate(wakeNext);
	});
}
