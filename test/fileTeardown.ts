import test from 'ava';
import type { Teardown } from './serverProcess.js';

/** Ends what several tests of a file share, the last first, once they have all ended. Called while the file is loaded. */
export function fileTeardown(): Teardown {
	const ends: (() => Promise<void>)[] = [];
	test.after.always(async () => {
		for (const end of ends.splice(0).reverse()) await end();
	});
	return { teardown: (end) => void ends.push(end) };
}
