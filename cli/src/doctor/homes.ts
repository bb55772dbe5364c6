import path from 'node:path';
import type { RootState, Services } from '@stowage/core';
import { shellWord } from '../terminal/shellWord.js';
import { type Finding, ok, warn } from './findings.js';

/** Homes that are being moved to another storage root, and the remains of those that have moved. */
export async function checkHomes({ homeMoves }: Services, roots: readonly RootState[]): Promise<Finding[]> {
	const what = 'home move';
	const moves = (await homeMoves.list()).map(({ job, username, root, isRunning }): Finding => {
		const message = `the home of ${username} is on its way to ${root ?? 'a root that is gone'}`;
		if (isRunning) return ok(what, message);
		const begin =
			root === undefined
				? ''
				: `Start the server, or: stowage user move-root ${shellWord(username)} ${shellWord(root)}. `;
		return warn(what, `${message}, and waits or was cut off`, `${begin}To end it: stowage job cancel ${job.id}`);
	});
	const left = (await homeMoves.oldHomes()).map(({ username, root, path: folder }): Finding => {
		const location = roots.find(({ name }) => name === root)?.location;
		const place = location ? ` (${path.join(location, folder)})` : '';
		return warn(
			'old home',
			`the home of ${username} lies on another root, and there is still a folder ${folder} on ${root}${place}`,
			'A move keeps it when another program changes something in it at the last moment: bring over what is missing in the home, then remove the folder.',
		);
	});
	return [...moves, ...left];
}
