import type { Part } from '@stowage/rules';

/** What one client has got of one content of a share. */
export interface ClientParts {
	share: string;
	/** Hashes. */
	client: string;
	content: string;
	/** Bytes of all of it. */
	size: number;
	/** What was sent, in order and without overlaps. */
	sent: readonly Part[];
	/** The name of the process that sends. */
	process: string;
	/** What it is sending: from where it has come to, to where it was asked for. */
	underWay: readonly Part[];
	/** Where the client has begun: it has what another process was sending before that when it was killed. */
	begun: readonly number[];
}

export interface ShareUse {
	share: string;
	downloads: number;
	bytesSent: number;
	uploads: number;
	bytesReceived: number;
}

/** What one sender has sent to a share in one go. */
export interface ShareReceipt {
	id: string;
	share: string;
	/** What the share was called then. */
	title: string;
	/** Empty where no name was asked for. */
	sender: string;
	/** The number of files, without those that the sender took back. */
	files: number;
	bytes: number;
	begunAt: number;
	endedAt: number;
}

/** How shares are used: counts, and what clients have got so far, in all processes. */
export interface ShareUseStore {
	/** Adds to the counts of shares, all in one step. */
	add(uses: readonly ShareUse[]): Promise<void>;
	/** The processes that send these contents to these clients, or have been killed while they did. */
	senders(of: readonly Pick<ClientParts, 'share' | 'client' | 'content'>[]): Promise<string[]>;
	/**
	 * Adds what was sent; resolves to those that are whole now, of which nothing is kept. `ended` are processes of which
	 * it is certain that they have ended: what they were sending has arrived as far as where the client goes on.
	 */
	saveParts(
		parts: readonly ClientParts[],
		ended: ReadonlySet<string>,
	): Promise<Pick<ClientParts, 'share' | 'client'>[]>;
	/** What was sent of a content to a client so far. */
	parts(of: Pick<ClientParts, 'share' | 'client' | 'content'>): Promise<readonly Part[]>;
	/** Forgets what was sent of a content to a client. */
	forget(of: Pick<ClientParts, 'share' | 'client' | 'content'>): Promise<void>;
	/**
	 * Lets a client download from a share whose downloads are limited: one that does already, or one more than have done or do so. Who was
	 * last heard of before `idleSince` does not any more. `ending` is one whose last bytes are being sent, which is over soon.
	 */
	admit(share: string, client: string, idleSince: number): Promise<'admitted' | 'refused' | 'ending'>;
	/** Whether `admit` would not refuse. */
	mayAdmit(share: string, client: string, idleSince: number): Promise<boolean>;
	/** Records that these clients of shares are active now. */
	touch(passes: readonly Pick<ClientParts, 'share' | 'client'>[]): Promise<void>;
	/** The last bytes of what a client was admitted for are about to be sent, or could not be. Resolves to whether it was admitted. */
	setEnding(share: string, client: string, isEnding: boolean): Promise<boolean>;
	/** Counts a download of a client, and admits it no more, if it was admitted; resolves to that. */
	complete(share: string, client: string): Promise<boolean>;
	/**
	 * What the shares of a user have received, also those that were deleted, the latest first. It is counted as uploads
	 * end (`UploadStore.finish`).
	 */
	receipts(ownerId: string, limit: number): Promise<ShareReceipt[]>;
	/** Forgets what was received before. */
	forgetReceipts(before: number): Promise<void>;
	/** Forgets what clients have got that were last heard of before. */
	sweep(idleSince: number): Promise<void>;
}
