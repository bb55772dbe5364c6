import type { StoragePath } from '@stowage/rules';
import { decodeItems, type IndexedItem } from './blocks.js';
import { homeOf } from './homeOf.js';
import { IndexConnection } from './IndexConnection.js';
import { assertVersion } from './schema.js';

/** What is not known any more of a root: the rows of a folder, or all that is below it. */
export interface StaleMark {
	kind: 'rows' | 'tree';
	path: StoragePath;
}

/** Some items of one folder that may match. */
export interface IndexedBlock {
	id: number;
	folder: StoragePath;
	items: IndexedItem[];
}

export interface BlockQuery {
	rootId: string;
	/** The folder, with all below it. */
	within: StoragePath;
	/** A part of the names, folded as searches compare them. Blocks without it are left out; all contain the empty one. */
	folded: string;
	/** The block that was read last, 0 for the first ones. */
	after: number;
	/** @default 50 */
	limit?: number;
}

/** The state of a root in the index. */
export interface IndexedRoot {
	rootId: string;
	/** Since when all of it is known to have been as the disk had it, milliseconds since the epoch; null while it is being built. */
	checkedAt: number | null;
	folders: number;
	names: number;
	/** How much is to be listed again. */
	stale: number;
}

/** Numbers of blocks of one home begin with its own: there are so many of them. */
export const blocksPerHome = 2 ** 32;

/** Reads the index, while one process writes to it. */
export class IndexReader {
	readonly #connection: IndexConnection;

	private constructor(connection: IndexConnection) {
		this.#connection = connection;
	}

	/** Throws DamagedIndexError for a file that is no index of this version, and `unavailable` where there is none. */
	static async open(path: string): Promise<IndexReader> {
		const connection = await IndexConnection.open(path);
		try {
			await connection.exec('pragma query_only = on');
			await assertVersion(connection);
			return new IndexReader(connection);
		} catch (error) {
			connection.close();
			throw error;
		}
	}

	/** Up to which byte of each process's journal its changes are in the index. */
	async positions(): Promise<Map<string, number>> {
		const rows = await this.#connection.all<{ file: string; position: number }>('select file, position from positions');
		return new Map(rows.map(({ file, position }) => [file, position]));
	}

	/** Since when the root is known to be right; undefined if it is not completely in the index. */
	async checkedAt(rootId: string): Promise<number | undefined> {
		const [row] = await this.#connection.all<{ checked_at: number | null }>(
			'select checked_at from roots where root_id = ?',
			rootId,
		);
		return row?.checked_at ?? undefined;
	}

	/** What is stale of a folder and below it, at most one more than `limit`, and one mark of all that it is in. */
	async staleWithin(rootId: string, path: StoragePath, limit: number): Promise<StaleMark[]> {
		const [from, to] = boundsOf(path);
		const below = await this.#connection.all<StaleMark>(
			`select kind, path from stale where root = (select id from roots where root_id = ?)
				and (path = ? or (path >= ? and path < ?)) limit ?`,
			...[rootId, path, from, to, limit + 1],
		);
		const ends = endsAbove(path);
		if (ends.length === 0) return below;
		const covering = await this.#connection.all<StaleMark>(
			// The folders above are cut from the path on libsql's thread: as texts of their own they take the square of their number.
			`select s.kind, s.path from json_each(?) e cross join stale s on s.root = (select id from roots where root_id = ?)
				and s.path = cast(substr(cast(? as blob), 1, e.value) as text) and s.kind = 'tree' limit 1`,
			...[JSON.stringify(ends), rootId, path],
		);
		return [...covering, ...below];
	}

	/** Whether the index has a folder, and it could be listed. */
	async has(rootId: string, path: StoragePath): Promise<'listed' | 'closed' | undefined> {
		const [row] = await this.#connection.all<{ is_closed: number }>(
			'select is_closed from folders where root = (select id from roots where root_id = ?) and path = ?',
			...[rootId, path],
		);
		return row === undefined ? undefined : row.is_closed === 1 ? 'closed' : 'listed';
	}

	/** The paths of the folders directly in one that the index has. */
	async childFolders(rootId: string, path: StoragePath): Promise<StoragePath[]> {
		const rows = await this.#connection.all<{ path: StoragePath }>(
			`select path from folders where parent =
				(select id from folders where root = (select id from roots where root_id = ?) and path = ?)`,
			...[rootId, path],
		);
		return rows.map((row) => row.path);
	}

	/** The next blocks that may contain the text, in the order of their numbers. */
	async blocks({ rootId, within, folded, after, limit = 50 }: BlockQuery): Promise<IndexedBlock[]> {
		const [from, to] = boundsOf(within);
		const home = homeOf(within);
		const range = home === undefined ? { first: 0, last: Number.MAX_SAFE_INTEGER } : await this.#range(rootId, home);
		if (range === undefined) return [];
		const trigrams = trigramsOf(folded);
		const [source, match] =
			trigrams === undefined ? ['blocks b', []] : ['words cross join blocks b on b.id = words.rowid', [trigrams]];
		const number = trigrams === undefined ? 'b.id' : 'words.rowid';
		const rows = await this.#connection.all<{ id: number; path: StoragePath; items: string }>(
			// Materialized, which the first step does, on a thread: further rows are fetched on the main thread, and to the
			// next one all blocks of a home may be to read.
			`with found as materialized (select b.id, f.path, b.items from ${source} join folders f on f.id = b.folder
				where ${trigrams === undefined ? '' : 'words match ? and'} ${number} > ? and ${number} <= ?
				and instr(b.folded, ?) > 0 and f.root = (select id from roots where root_id = ?)
				and (f.path = ? or (f.path >= ? and f.path < ?)) order by ${number} limit ?) select * from found order by id`,
			...match,
			...[Math.max(after, range.first), range.last, folded, rootId, within, from, to, limit],
		);
		return rows.map(({ id, path, items }) => ({ id, folder: path, items: decodeItems(items) }));
	}

	async roots(): Promise<IndexedRoot[]> {
		const rows = await this.#connection.all<{
			root_id: string;
			checked_at: number | null;
			folders: number;
			names: number | null;
			stale: number;
		}>(`select root_id, checked_at,
			(select count(*) from folders where root = roots.id) as folders,
			(select sum(length(b.items) - length(replace(b.items, char(10), '')) + 1)
				from blocks b join folders f on f.id = b.folder where f.root = roots.id) as names,
			(select count(*) from stale where root = roots.id) as stale
			from roots order by id`);
		return rows.map(({ root_id, checked_at, folders, names, stale }) => ({
			...{ rootId: root_id, checkedAt: checked_at, folders, names: names ?? 0, stale },
		}));
	}

	close(): void {
		this.#connection.close();
	}

	async #range(rootId: string, home: string): Promise<{ first: number; last: number } | undefined> {
		const [row] = await this.#connection.all<{ id: number }>(
			'select id from homes where root = (select id from roots where root_id = ?) and path = ?',
			...[rootId, home],
		);
		return row && { first: row.id * blocksPerHome, last: (row.id + 1) * blocksPerHome - 1 };
	}
}

/** Paths below a folder are in here, the end excluded. */
export function boundsOf(path: StoragePath): [string, string] {
	// '0' comes after '/'.
	return path === '' ? ['', '\u{10FFFF}'] : [`${path}/`, `${path}0`];
}

/** How many bytes of a path those of each folder above it are, of which the root has none. */
export function endsAbove(path: string): number[] {
	const bytes = Buffer.from(path);
	const ends: number[] = [];
	if (bytes.length > 0) for (let end = 0; end !== -1; end = bytes.indexOf('/', end + 1)) ends.push(end);
	return ends;
}

/** The query for blocks that contain all parts of three letters of a text; undefined for a shorter one. */
function trigramsOf(folded: string): string | undefined {
	const letters = [...folded];
	const found = new Set<string>();
	for (let at = 0; at + 3 <= letters.length; at++) found.add(letters.slice(at, at + 3).join(''));
	if (found.size === 0) return undefined;
	return [...found].map((text) => `"${text.replaceAll('"', '""')}"`).join(' ');
}
