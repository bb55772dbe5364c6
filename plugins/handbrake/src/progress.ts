/** How far an encoder is. */
export interface EncoderProgress {
	/** The percentage of all passes together. */
	percent: number;
	currentFps: number | null;
	averageFps: number | null;
	/** Such as `1h2m3s`. */
	eta: string | null;
}

const line =
	/^Encoding: task (\d+) of (\d+), (\d+(?:\.\d+)?) %(?: \((\d+(?:\.\d+)?) fps, avg (\d+(?:\.\d+)?) fps, ETA (\d+)h(\d+)m(\d+)s\))?/;

/** The progress that a line of HandBrakeCLI's output reports; undefined for any other line. */
export function parseProgress(text: string): EncoderProgress | undefined {
	const [, task, tasks, percent, fps, averageFps, hours, minutes, seconds] = line.exec(text) ?? [];
	if (task === undefined || Number(tasks) < 1) return undefined;
	return {
		percent: Math.min(100, ((Number(task) - 1) * 100 + Number(percent)) / Number(tasks)),
		currentFps: numberOrNull(fps),
		averageFps: numberOrNull(averageFps),
		eta: hours === undefined ? null : formatEta(Number(hours), Number(minutes), Number(seconds)),
	};
}

/** The remaining time, without leading units of zero. */
function formatEta(hours: number, minutes: number, seconds: number): string {
	if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
	return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

const numberOrNull = (text: string | undefined) => (text === undefined ? null : Number(text));

/**
 * Calls `take` with each line of the output, whether it ends with a line feed or a carriage return. A line longer than any of interest is
 * truncated.
 */
export function lineReader(onLine: (line: string) => void): (chunk: string) => void {
	let rest = '';
	return (chunk) => {
		const lines = (rest + chunk).split(/[\r\n]+/);
		rest = (lines.pop() ?? '').slice(0, maxLineLength);
		for (const each of lines) if (each !== '') onLine(each.slice(0, maxLineLength));
	};
}

const maxLineLength = 500;
