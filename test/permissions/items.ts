import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '../../packages/core/test/testApp.js';
import { film, h264, picture } from '../../plugins/handbrake/test/conversions.js';
import { type Person, roleOf, type Which } from './people.js';

/** A folder on the disk that was made for one call, with a film, a document and a text, whose contents nobody can guess. */
export interface Item {
	which: Which;
	owner: { name: string; client: Client };
	/** In the home where it lies: `docs/3f…`. */
	folder: string;
	/** A part of the names and contents in it that is in no request. */
	marker: string;
	remove(): Promise<void>;
}

/** An item as a caller names it: a folder with `fox.mp4` in it. */
export interface Place {
	type: string;
	/** The path of the folder, relative to the area. */
	folder: string;
	/** Whose it is, as the caller says. */
	owner?: string;
}

export async function makeItem(home: string, owner: Item['owner'], which: Which): Promise<Item> {
	const marker = `marker${randomBytes(12).toString('hex')}`;
	const top = { own: 'docs', shared: 'docs', foreign: 'other', disabled: 'papers' }[which];
	const folder = `${top}/${randomBytes(6).toString('hex')}`;
	const at = path.join(home, folder);
	await mkdir(at, { recursive: true });
	await film('fox.mp4', [...picture('64x36', 1, 5), ...h264], path.join(at, 'fox.mp4'));
	await appendFile(path.join(at, 'fox.mp4'), freeBox(marker));
	await writeFile(path.join(at, 'marker.docx'), `the document ${marker}`);
	await writeFile(path.join(at, `${marker}.txt`), marker);
	return { which, folder, marker, owner, remove: () => rm(at, { recursive: true, force: true }) };
}

/** A part of a film that players skip (ISO/IEC 14496-12, 8.1.2). */
function freeBox(content: string): Buffer {
	const head = Buffer.alloc(8);
	head.writeUInt32BE(head.length + content.length);
	head.write('free', 4);
	return Buffer.concat([head, Buffer.from(content)]);
}

/** As it is called by who may do something with it, and by who asks for it where members do. */
export function placeOf(person: Person, { which, folder }: Item): Place {
	return { type: roleOf(person, which) === 'own' ? 'private' : 'shared', folder };
}

/** By other areas, paths and owners that might lead there. */
export function wrongPlacesOf(person: Person, { which, folder, owner: { name } }: Item): Place[] {
	if (!person.triesAll || which === 'disabled') return [];
	if (roleOf(person, which) === 'own') return [{ type: 'shared', folder }];
	const plain = [
		{ type: 'private', folder },
		{ type: 'public', folder },
		{ type: 'private', folder, owner: name },
		{ type: 'public', folder: `../${folder}`, owner: name },
	];
	if (person.client === undefined) return plain;
	return [
		...plain,
		{ type: 'public', folder, owner: name },
		{ type: 'shared', folder: `../${folder}` },
		{ type: 'private', folder: `../${name}/${folder}` },
		{ type: 'public', folder: `../../users/${name}/${folder}` },
		...(which === 'foreign' ? [{ type: 'shared', folder: `docs/../${folder}` }] : []),
	];
}

/** How it may be named in a share of `docs`. */
export function sharedPathsOf({ which, folder }: Item): string[] {
	const inShare = folder.replace(/^docs\//, '');
	return which === 'shared' ? [inShare] : [folder, `../${folder}`, `docs/../../${folder}`, `/${folder}`];
}
