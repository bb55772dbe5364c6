import { type StorageEntry, type StorageItem, trashFolder } from '@stowage/plugin-api';
import { parentPath } from '@stowage/rules';

export type Node = FileNode | FolderNode;

let revisions = 0;

abstract class MemoryNode {
	readonly id: string = crypto.randomUUID();
	mtime = Date.now();
	revision = ++revisions;

	protected changed(): void {
		this.mtime = Date.now();
		this.revision = ++revisions;
	}
}

export class FileNode extends MemoryNode {
	readonly type = 'file';
	bytes: Uint8Array = new Uint8Array(0);

	/** Replaced, never modified: an open file keeps its content. */
	setBytes(bytes: Uint8Array): void {
		this.bytes = bytes;
		this.changed();
	}

	copy(): FileNode {
		const copy = new FileNode();
		copy.bytes = this.bytes;
		copy.mtime = this.mtime;
		return copy;
	}
}

export class FolderNode extends MemoryNode {
	readonly type = 'directory';
	readonly children = new Map<string, Node>();

	set(name: string, node: Node): void {
		this.children.set(name, node);
		this.changed();
	}

	delete(name: string): void {
		this.children.delete(name);
		this.changed();
	}

	copy(): FolderNode {
		const copy = new FolderNode();
		for (const [name, node] of this.children) copy.children.set(name, node.copy());
		copy.mtime = this.mtime;
		return copy;
	}
}

/** The state that outlives a storage that is closed and opened again: the tree and the staged files. */
export class MemoryRoot {
	readonly id: string = crypto.randomUUID();
	readonly tree = new FolderNode();
	/** The staged files by id. One stays here once it is published, so that a commit can be tried again. */
	readonly staged = new Map<string, StagedNode>();

	/** Staged copies by id. They stay here once they are published, so that they are found by it. */
	readonly copies = new Map<string, MemoryCopy>();

	constructor() {
		this.tree.children.set(parentPath(trashFolder), new FolderNode());
	}

	beginCopy(type: Node['type']): MemoryCopy {
		const copy: MemoryCopy = { id: crypto.randomUUID(), type, begunAt: Date.now(), isBusy: false };
		this.copies.set(copy.id, copy);
		return copy;
	}

	/** The begun copy of an id; undefined for an unknown id, and for a copy of another type, which is of no use. */
	findCopy(id: string | undefined, type: Node['type']): MemoryCopy | undefined {
		const copy = this.copies.get(id ?? '');
		return copy?.type === type ? copy : undefined;
	}

	/** Begins a staged file and answers its id. */
	begin(): string {
		const id = crypto.randomUUID();
		this.staged.set(id, { node: new FileNode(), state: 'open', isBusy: false, isLocked: false });
		return id;
	}
}

/** A copy in memory is never incomplete: only its beginning and its published entry are stored. */
export interface MemoryCopy {
	readonly id: string;
	readonly type: Node['type'];
	readonly begunAt: number;
	published?: Node;
	isBusy: boolean;
}

export interface StagedNode {
	readonly node: FileNode;
	state: 'open' | 'published' | 'discarded';
	isBusy: boolean;
	/** Whether it is locked for more than one call. */
	isLocked: boolean;
}

export function entryOf(name: string, node: Node): StorageEntry {
	return { name, type: node.type, size: node.type === 'file' ? node.bytes.length : 0, mtime: node.mtime };
}

export function itemOf(name: string, node: Node): StorageItem {
	return { ...entryOf(name, node), id: node.id, version: `${node.id}-${node.revision}` };
}
