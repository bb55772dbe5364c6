interface Formats {
	date: Intl.DateTimeFormat;
	time: Intl.DateTimeFormat;
	exactTime: Intl.DateTimeFormat;
}

/** A list formats a date for every row, and building a format costs far more than using it. */
const formatsByTimeZone = new Map<string | undefined, Formats>();

function formatsFor(timeZone: string | undefined): Formats {
	let formats = formatsByTimeZone.get(timeZone);
	if (!formats) {
		formats = {
			date: new Intl.DateTimeFormat('en-US', { timeZone, month: 'short', day: 'numeric', year: 'numeric' }),
			time: new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', minute: '2-digit' }),
			exactTime: new Intl.DateTimeFormat('en-US', {
				timeZone,
				hour: 'numeric',
				minute: '2-digit',
				second: '2-digit',
			}),
		};
		formatsByTimeZone.set(timeZone, formats);
	}
	return formats;
}

/** `Nov 21, 2026`, in the local time zone unless one is named; empty for a time that is no date. */
export function formatDate(milliseconds: number, timeZone?: string): string {
	return format(milliseconds, formatsFor(timeZone).date);
}

/** `2:05 PM`, in the local time zone unless one is named; empty for a time that is no date. */
export function formatTime(milliseconds: number, timeZone?: string): string {
	return format(milliseconds, formatsFor(timeZone).time);
}

/** `2:05:09 PM`, otherwise as `formatTime`. */
export function formatExactTime(milliseconds: number, timeZone?: string): string {
	return format(milliseconds, formatsFor(timeZone).exactTime);
}

function format(milliseconds: number, by: Intl.DateTimeFormat): string {
	// Some file systems have times that a Date can't represent; one such file must not break the list that shows it.
	if (Number.isNaN(new Date(milliseconds).getTime())) return '';
	// Some versions of ICU put a narrow no-break space before AM and PM.
	return by.format(milliseconds).replaceAll('\u202F', ' ');
}
