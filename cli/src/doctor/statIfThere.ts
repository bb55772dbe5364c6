import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';

/** The metadata of a path; undefined where nothing is there. Throws where that can't be found out. */
export async function statIfThere(place: string): Promise<Stats | undefined> {
	try {
		return await stat(place);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
		throw error;
	}
}
