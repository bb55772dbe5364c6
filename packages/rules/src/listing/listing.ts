import type { Owner } from '../access/areas.js';
import type { MemberRole } from '../access/shares.js';

/** A file or folder as a listing shows it (spec, section 3). */
export interface Entry {
	name: string;
	/** Relative to its area's root; `parsePath` takes it. */
	path: string;
	type: 'file' | 'directory';
	/** Bytes; 0 for a directory. */
	size: number;
	/** Milliseconds since the epoch. */
	mtime: number;
	/** The owner, in the public view and for the folders that are shared with the viewer. */
	owner?: Owner | undefined;
	/** Visible direct children; directories only. */
	count?: number | undefined;
	/** The top-level `Public` of a home. */
	protected?: true | undefined;
	/** The server may not read it. */
	unreadable?: true | undefined;
	/**
	 * What the viewer may do with it as a member: in the list of shared folders, and where it is something else than in
	 * the folder that it is in.
	 */
	role?: MemberRole | undefined;
	/** How many members a folder of the viewer's own has; only in listings of their own files, and only where there are any. */
	members?: number | undefined;
	/** How many former contents the owner can restore; only in listings of their own files, and only where there are any. */
	versions?: number | undefined;
}
