import test from 'ava';
import type { Teardown } from './serverProcess.js';

/** A teardown for resources that several tests of a file share, in reverse order after all of them. Called while the file is loaded. */
export function fileTeardown(): Teardown {
	const ends: (() => Promise<void>)[] = [];
	test.after.always(async () => {
		for (const end of ends.splice(0).reverse()) await end();
	});
	return { teardown: (end) => void ends.push(end) };
}
