import { PathMap, parentPath, type StoragePath } from '@stowage/rules';
import { ownTurn } from '../connection/ownTurn.js';
import { type Block, blocksOf, type IndexedItem, partsFor } from './blocks.js';
import { homeOf } from './homeOf.js';
import { IndexConnection } from './IndexConnection.js';
import { blocksPerHome, boundsOf, type StaleMark } from './IndexReader.js';
import { prepareIndex } from './schema.js';

/** A mark as it waits in the index. */
export interface WaitingMark extends StaleMark {
	rootId: string;
	/** Grows when the same is marked again. */
	n: number;
}

/** The answer to a mark, by the disk. */
export type Relisted = { mark: WaitingMark } & (
	| {
			kind: 'listed';
			items: readonly IndexedItem[];
			/** The folder's modified time before it was listed; null if a later change might have the same. */
			mtime: number | null;
			listedAt: number;
	  }
	/** There is no such folder. */
	| { kind: 'gone' }
	/** The folder may not be listed. */
	| { kind: 'closed'; listedAt: number }
);

/** A folder that is to be compared with the disk. */
export interface KnownFolder {
	id: number;
	path: StoragePath;
	mtime: number | null;
	listedAt: number;
}

/** For how long names are compared in one turn of the event loop. */
const turnMs = 10;

/** Writes the index, in one process at a time. */
export class IndexWriter {
	readonly #connection: IndexConnection;
	#nextBlock = 0;

	private constructor(connection: IndexConnection) {
		this.#connection = connection;
	}

	/** Makes a missing file. Throws DamagedIndexError for one that is no index of this version. */
	static async open(path: string): Promise<IndexWriter> {
		const connection = await IndexConnection.open(path);
		try {
			await prepareIndex(connection);
			const writer = new IndexWriter(connection);
			// No number is used twice: a search that is under way reads on from the last one that it saw.
			const [row] = await connection.all<{ last: number | null }>(
				`select max(id % ${blocksPerHome}) as last from blocks`,
			);
			writer.#nextBlock = (row?.last ?? 0) + 1;
			return writer;
		} catch (error) {
			connection.close();
			throw error;
		}
	}

	/** Begins a root, of which everything is stale, unless the index has it. */
	async addRoot(rootId: string, now: number): Promise<void> {
		await this.#connection.transaction(async () => {
			const added = await this.#connection.all(
				'insert into roots(root_id, checked_at) values (?, ?) on conflict do nothing returning id',
				...[rootId, now],
			);
			if (added.length > 0) await this.#mark(rootId, [{ kind: 'tree', path: '' as StoragePath }]);
		});
	}

	/** Removes all of every root that is not among these. */
	async keepRoots(rootIds: readonly string[]): Promise<void> {
		const kept = JSON.stringify(rootIds);
		const gone = await this.#connection.all<{ id: number }>(
			'select id from roots where root_id not in (select value from json_each(?))',
			kept,
		);
		for (const { id } of gone) {
			await this.#connection.transaction(async () => {
				await this.#removeBelow(id, '' as StoragePath);
				await this.#connection.all('delete from stale where root = ? returning 1', id);
				await this.#connection.all('delete from homes where root = ? returning 1', id);
				await this.#connection.all('delete from roots where id = ? returning 1', id);
			});
		}
	}

	/** Records what became stale by a journal's entries up to this byte. */
	async apply(file: string, position: number, marks: readonly (StaleMark & { rootId: string })[]): Promise<void> {
		await this.#connection.transaction(async () => {
			// Many files of one folder have marks that are equal.
			const different = new PathMap(marks.map((mark) => [`${mark.rootId}/${mark.kind}/${mark.path}`, mark]));
			for (const mark of different.values()) await this.#mark(mark.rootId, [mark]);
			await this.#connection.all('insert or replace into positions values (?, ?) returning 1', file, position);
		});
	}

	/** Records what is stale. */
	async mark(rootId: string, marks: readonly StaleMark[]): Promise<void> {
		if (marks.length === 0) return;
		await this.#connection.transaction(() => this.#mark(rootId, marks));
	}

	/** Forgets a journal that was removed. */
	async forgetJournal(file: string): Promise<void> {
		await this.#connection.all('delete from positions where file = ? returning 1', file);
	}

	async positions(): Promise<Map<string, number>> {
		const rows = await this.#connection.all<{ file: string; position: number }>('select file, position from positions');
		return new Map(rows.map(({ file, position }) => [file, position]));
	}

	/** The next marks after this one, the oldest first. */
	async waiting(after: number, limit: number): Promise<WaitingMark[]> {
		return this.#connection.all<WaitingMark>(
			`select stale.n, roots.root_id as rootId, stale.path, stale.kind from stale join roots on roots.id = stale.root
				where stale.n > ? order by stale.n limit ?`,
			...[after, limit],
		);
	}

	/** Writes what the disk answered to marks, which are done. Folders that are new become stale with all below them. */
	async write(answers: readonly Relisted[]): Promise<void> {
		await this.#connection.transaction(async () => {
			for (const answer of answers) await this.#write(answer);
		});
	}

	/** Folders of a root to compare with the disk, in the order of their numbers. */
	async folders(rootId: string, after: number, limit: number): Promise<KnownFolder[]> {
		return this.#connection.all<KnownFolder>(
			`select id, path, mtime, listed_at as listedAt from folders
				where root = (select id from roots where root_id = ?) and id > ? order by id limit ?`,
			...[rootId, after, limit],
		);
	}

	async checkedAt(rootId: string): Promise<number | undefined> {
		const [row] = await this.#connection.all<{ checked_at: number | null }>(
			'select checked_at from roots where root_id = ?',
			rootId,
		);
		return row?.checked_at ?? undefined;
	}

	/** All of the root was as the disk had it at this time. */
	async setChecked(rootId: string, at: number): Promise<void> {
		await this.#connection.all('update roots set checked_at = ? where root_id = ? returning 1', at, rootId);
	}

	/** A short text that stays with the index. */
	async state(key: string): Promise<string | undefined> {
		const [row] = await this.#connection.all<{ value: string }>('select value from states where key = ?', key);
		return row?.value;
	}

	async setState(key: string, value: string): Promise<void> {
		await this.#connection.all('insert or replace into states values (?, ?) returning 1', key, value);
	}

	async close(): Promise<void> {
		try {
			await this.#connection.exec('pragma wal_checkpoint(truncate)');
		} catch {
			// Others read it: the log is read by whoever opens it next.
		}
		this.#connection.close();
	}

	async #mark(rootId: string, marks: readonly StaleMark[]): Promise<void> {
		for (const { kind, path } of marks) {
			// Anew, also where it is marked already: its number says that it was marked after an answer was begun.
			await this.#connection.all(
				'insert or replace into stale(root, path, kind) select id, ?, ? from roots where root_id = ? returning 1',
				...[path, kind, rootId],
			);
		}
	}

	async #write(answer: Relisted): Promise<void> {
		const { mark } = answer;
		const [root] = await this.#connection.all<{ id: number }>('select id from roots where root_id = ?', mark.rootId);
		if (root === undefined) return;
		const parent = mark.path === '' ? null : await this.#folderId(root.id, parentPath(mark.path));
		if (answer.kind === 'gone') {
			await this.#removeBelow(root.id, mark.path);
			if (parent !== null && parent !== undefined) await this.#markParent(mark);
		} else if (parent === undefined) {
			// Its folder is not known yet, and knows of it once it is listed.
			await this.#markParent(mark);
		} else if (answer.kind === 'closed') {
			await this.#removeBelow(root.id, mark.path);
			await this.#putFolder(root.id, parent, mark.path, {
				mtime: null,
				listedAt: answer.listedAt,
				parts: 1,
				isClosed: true,
			});
		} else {
			const { items, mtime, listedAt } = answer;
			const parts = partsFor(items.length);
			const folder = await this.#putFolder(root.id, parent, mark.path, { mtime, listedAt, parts, isClosed: false });
			await this.#writeBlocks(folder, items);
			await this.#writeChildren(mark, root.id, folder.id, items);
		}
		await this.#connection.all('delete from stale where n = ? returning 1', mark.n);
	}

	async #markParent({ rootId, path }: WaitingMark): Promise<void> {
		if (path !== '') await this.#mark(rootId, [{ kind: 'rows', path: parentPath(path) }]);
	}

	async #folderId(root: number, path: StoragePath): Promise<number | undefined> {
		const [row] = await this.#connection.all<{ id: number }>(
			'select id from folders where root = ? and path = ?',
			...[root, path],
		);
		return row?.id;
	}

	async #putFolder(
		root: number,
		parent: number | null,
		path: StoragePath,
		{ mtime, listedAt, parts, isClosed }: { mtime: number | null; listedAt: number; parts: number; isClosed: boolean },
	): Promise<{ id: number; home: number }> {
		const home = homeOf(path) ?? '';
		await this.#connection.all('insert or ignore into homes(root, path) values (?, ?) returning 1', root, home);
		const [row] = await this.#connection.all<{ id: number; home: number }>(
			`insert into folders(root, path, parent, home, mtime, listed_at, parts, is_closed)
				values (?1, ?2, ?3, (select id from homes where root = ?1 and path = ?4), ?5, ?6, ?7, ?8)
				on conflict(root, path) do update set parent = ?3, mtime = ?5, listed_at = ?6, parts = ?7, is_closed = ?8
				returning id, home`,
			...[root, path, parent, home, mtime, listedAt, parts, isClosed ? 1 : 0],
		);
		if (row === undefined) throw new Error('A folder was not written.');
		return row;
	}

	/** Writes the blocks of a folder that have changed. */
	async #writeBlocks(folder: { id: number; home: number }, items: readonly IndexedItem[]): Promise<void> {
		const known = await this.#connection.all<{ id: number; part: number; digest: string }>(
			'select id, part, digest from blocks where folder = ?',
			folder.id,
		);
		const before = new Map(known.map((block) => [block.part, block]));
		let turnBegan = performance.now();
		const pause = async () => {
			if (performance.now() - turnBegan < turnMs) return;
			await ownTurn();
			turnBegan = performance.now();
		};
		const changed: Block[] = [];
		const kept = new Set<number>();
		for await (const block of blocksOf(items, pause)) {
			const same = before.get(block.part);
			if (same?.digest === block.digest) kept.add(same.id);
			else changed.push(block);
		}
		const removed = known.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
		await this.#removeBlocks('b.id in (select value from json_each(?))', JSON.stringify(removed));
		for (const { part, digest, items: text, fold } of changed) {
			const folded = fold();
			const id = folder.home * blocksPerHome + this.#nextBlock++;
			await this.#connection.all('insert into words(rowid, folded) values (?, ?) returning 1', id, folded);
			await this.#connection.all(
				'insert into blocks values (?, ?, ?, ?, ?, ?) returning 1',
				...[id, folder.id, part, digest, folded, text],
			);
		}
	}

	/** Folders that are not there any more are removed with all below them, and new ones are stale. */
	async #writeChildren(mark: WaitingMark, root: number, folder: number, items: readonly IndexedItem[]): Promise<void> {
		const prefix = mark.path === '' ? '' : `${mark.path}/`;
		const there = new Set<string>();
		for (const { name, type } of items) if (type === 'directory') there.add(name);
		const rows = await this.#connection.all<{ path: StoragePath }>('select path from folders where parent = ?', folder);
		const known = new Set(rows.map(({ path }) => path.slice(prefix.length)));
		for (const name of known) if (!there.has(name)) await this.#removeBelow(root, `${prefix}${name}` as StoragePath);
		const stale = [...there].filter((name) => mark.kind === 'tree' || !known.has(name));
		if (stale.length > 0)
			await this.#mark(
				mark.rootId,
				stale.map((name) => ({ kind: 'tree', path: `${prefix}${name}` as StoragePath })),
			);
	}

	async #removeBelow(root: number, path: StoragePath): Promise<void> {
		const [from, to] = boundsOf(path);
		const within = 'f.root = ? and (f.path = ? or (f.path >= ? and f.path < ?))';
		await this.#removeBlocks(`b.folder in (select f.id from folders f where ${within})`, root, path, from, to);
		await this.#connection.all(`delete from folders as f where ${within} returning 1`, ...[root, path, from, to]);
	}

	async #removeBlocks(chosen: string, ...bindings: (string | number)[]): Promise<void> {
		await this.#connection.all(
			`insert into words(words, rowid, folded) select 'delete', b.id, b.folded from blocks b where ${chosen} returning 1`,
			...bindings,
		);
		await this.#connection.all(`delete from blocks as b where ${chosen} returning 1`, ...bindings);
	}
}
