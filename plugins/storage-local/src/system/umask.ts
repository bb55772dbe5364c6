import { readFileSync } from 'node:fs';

/** The umask of this process. Node's own call changes it for a moment, in which another thread may make a file. */
export function currentUmask(): number {
	const [, digits] = /^Umask:\s*([0-7]+)$/m.exec(readStatus()) ?? [];
	return digits === undefined ? process.umask() : Number.parseInt(digits, 8);
}

function readStatus(): string {
	try {
		return readFileSync('/proc/self/status', 'latin1');
	} catch {
		// Not on this system.
		return '';
	}
}
