const stepMs = 1000;
/** Longer than any ordinary file takes on a slow machine. */
const defaultSeconds = 15;

export interface SilenceWatch {
	/** Notes a sign of life. */
	hear(): void;
	end(): void;
}

/**
 * Asks again and again, and calls `onSilent` once when there was no answer for so many seconds. They are counted in
 * steps: a computer that slept has not been silent.
 */
export function watchSilence(ask: () => void, onSilent: () => void, seconds = defaultSeconds): SilenceWatch {
	let unanswered = 0;
	const timer = setInterval(() => {
		if (unanswered < seconds) {
			unanswered++;
			ask();
			return;
		}
		clearInterval(timer);
		onSilent();
	}, stepMs);
	return {
		hear() {
			unanswered = 0;
		},
		end: () => clearInterval(timer),
	};
}
