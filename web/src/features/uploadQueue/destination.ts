import { createContext, use } from 'react';
import { type Session, useSession } from '../../api/session/useSession.js';
import type { Transport, Upload } from '../../api/uploads/upload.js';

/** Where a queue sends its files. The queue knows no addresses of its own. */
export type UploadDestination =
	/** The areas of the server: as the session allows, and as is chosen for each file. */
	{ kind: 'areas' } | ShareDestination;

/**
 * A share, into which a guest sends files: one folder, that shows nothing of what it has. A taken name becomes another
 * one, and nobody signs in.
 */
export interface ShareDestination {
	kind: 'share';
	transport: Transport;
	discard: (upload: Upload) => Promise<void>;
	/** Whether a run may begin. If not, it says so to the user. */
	isReady: () => boolean;
	/** Who sends the files of the run that has begun; undefined where no name is asked for. */
	sender: () => string | undefined;
	/** Files have been received. Called at most every two seconds. */
	onReceived: () => void;
}

export const areas: UploadDestination = { kind: 'areas' };

export const DestinationContext = createContext<UploadDestination>(areas);

/** Who sends the files. The session of a share's guest is not asked for. */
export type Uploader = 'guest' | Session['status'];

export function useUploader(): Uploader {
	const { kind } = use(DestinationContext);
	const { status } = useSession({ isAsked: kind === 'areas' });
	return kind === 'share' ? 'guest' : status;
}

/** The user who is signed in, where the session is asked for. */
export function useUploaderName(): string | undefined {
	const destination = use(DestinationContext);
	return nameOf(destination, useSession({ isAsked: destination.kind === 'areas' }));
}

/** Whose files a queue to this destination uploads. */
export function nameOf({ kind }: UploadDestination, session: Session): string | undefined {
	return kind === 'areas' && session.status === 'signedIn' ? session.username : undefined;
}
