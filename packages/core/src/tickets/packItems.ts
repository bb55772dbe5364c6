import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { baseName, type Owner, parentPath, parsePath } from '@stowage/rules';
import { z } from 'zod';
import { type ChosenItem, ownedBy } from '../archives/makeManifest.js';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** More than any selection in a request. */
const maxTextBytes = 64 * 1024 * 1024;

/** Items in one folder of one tree: the tree's owner, if it has one, the folder and the names. */
const group = z.tuple([z.array(z.string().nullable()).max(1), z.string(), z.array(z.string())]);
type Group = z.output<typeof group>;

/** Items as a short text: a folder is written once for all consecutive items in it. */
export async function packItems(items: readonly ChosenItem[]): Promise<string> {
	const groups: Group[] = [];
	for (const { path, owner } of items) {
		const folder = parentPath(path);
		const last = groups.at(-1);
		if (last !== undefined && last[1] === folder && ownerOf(last) === owner) last[2].push(baseName(path));
		else groups.push([owner === undefined ? [] : [owner], folder, [baseName(path)]]);
	}
	return (await deflate(JSON.stringify(groups))).toString('base64url');
}

export async function unpackItems(text: string): Promise<ChosenItem[]> {
	const json = await inflate(Buffer.from(text, 'base64url'), { maxOutputLength: maxTextBytes });
	const groups = z.array(group).parse(JSON.parse(json.toString()));
	return groups.flatMap(([[owner], folder, names]) =>
		names.map((name) => ({ path: parsePath(folder === '' ? name : `${folder}/${name}`), ...ownedBy(owner) })),
	);
}

const ownerOf = ([[owner]]: Group): Owner | undefined => owner;
