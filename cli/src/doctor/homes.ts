import path from 'node:path';
import { type RootState, type Services, shellCommand } from '@stowage/core';
import { type Finding, ok, warn } from './findings.js';

/** Homes that are being moved to another storage root, and the remains of those that have moved. */
export async function checkHomes({ homeMoves }: Services, roots: readonly RootState[]): Promise<Finding[]> {
	const what = 'home move';
	const moves = (await homeMoves.list()).map(({ job, username, root, isRunning }): Finding => {
		const message = `the home of ${username} is on its way to ${root ?? 'a root that is gone'}`;
		if (isRunning) return ok(what, message);
		const begin =
			root === undefined ? '' : `Start the server, or: ${shellCommand`stowage user move-root ${username} ${root}`}. `;
		return warn(
			what,
			`${message}, and waits or was cut off`,
			`${begin}To end it: ${shellCommand`stowage job cancel ${job.id}`}`,
		);
	});
	const left = (await homeMoves.oldHomes()).map(({ username, root, path: folder }): Finding => {
		const location = roots.find(({ name }) => name === root)?.location;
		const place = location ? ` (${path.join(location, folder)})` : '';
		return warn(
			'old home',
			`the home of ${username} lies on another root, and there is still a folder ${folder} on ${root}${place}`,
			`Look whose files these are. A move keeps what another program changes at the last moment: then bring over what is missing in the home, and remove the folder. Those of somebody else who had the name before, or was to get it, take under another name before ${username} is given any of them.`,
		);
	});
	return [...moves, ...left];
}
