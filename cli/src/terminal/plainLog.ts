import { withoutDescriptors } from './explain.js';
import { printError } from './output.js';

interface LogLine {
	level: number;
	msg?: string;
	reason?: string;
	err?: { message?: string };
	[field: string]: unknown;
}

/** Where a command's log goes unless a flag asks for the lines of a server: one sentence for people each, on standard error. */
export const plainLog = {
	write(line: string): void {
		printError(sentence(JSON.parse(line)));
	},
};

/** A log line as a sentence, such as `Warning: the storage root is not available (root: big): ENOENT ...`. */
function sentence({ level, time: _, msg = '', reason, err, ...fields }: LogLine): string {
	const details = Object.entries(fields).map(
		([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
	);
	// The messages of an error and of its causes, some of which are sentences.
	const why = [reason, err && withoutDescriptors(err.message ?? '').replaceAll('.: ', ': ')].filter(Boolean).join(', ');
	return [
		`${level >= 50 ? 'Error' : 'Warning'}: ${msg}`,
		...(details.length > 0 ? [` (${details.join(', ')})`] : []),
		...(why === '' ? [] : [`: ${why}`]),
	].join('');
}
