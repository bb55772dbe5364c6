import path from 'node:path';
import { Failure } from '@stowage/rules';
import { whyOthersMayReplaceOrMake } from '../../config/access/whyOthersMayWrite.js';

/**
 * Throws `forbidden` where this is root and somebody else could put a link in the place of a new storage root, or has done so: they would
 * choose where root makes one.
 */
export async function assertRootMayMake(location: string): Promise<void> {
	if (process.geteuid?.() !== 0 || !path.isAbsolute(location)) return;
	const objection = await whyOthersMayReplaceOrMake(location);
	if (objection === undefined) return;
	const { reason, remedy } = objection;
	throw new Failure(
		'forbidden',
		`Root makes no storage root in ${location}, for ${reason}: who may do that can lead root elsewhere by a link. Name another folder, give the data folder to the user of the server, whom root becomes then, or ${remedy}.`,
	);
}
