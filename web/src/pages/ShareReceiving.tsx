import { Button } from '@blueprintjs/core';
import { isFailure } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useMemo, useRef, useState } from 'react';
import { queryKeys } from '../api/queryKeys.js';
import type { SharedView } from '../api/sharePage.js';
import { shareSource } from '../api/sources/shareSource.js';
import { discardShareUpload, shareTransport } from '../api/uploads/lazyTransport.js';
import type { ShareUploads } from '../api/uploads/uploadReceiver.js';
import { receivingMessages as messages } from '../features/sharePage/receivingMessages.js';
import { SentList } from '../features/sharePage/SentList.js';
import { useSentFiles } from '../features/sharePage/sentFiles.js';
import { senderDenial, useSender } from '../features/sharePage/useSender.js';
import { DropZone } from '../features/uploadQueue/choosing/DropZone.js';
import type { ShareDestination } from '../features/uploadQueue/destination.js';
import { UploadQueueProvider } from '../features/uploadQueue/UploadQueueProvider.js';
import { useUploadQueueView } from '../features/uploadQueue/useUploadQueue.js';
import { UploadQueuePanel } from '../features/uploadQueue/view/UploadQueuePanel.js';
import { UploadSuccess } from '../features/uploadQueue/view/UploadSuccess.js';
import { FormError } from '../ui/display/FormError.js';
import { TextField } from '../ui/fields/TextField.js';
import { useLatest } from '../ui/useLatest.js';
import styles from './ShareReceiving.module.css';

export interface ShareReceivingProps {
	token: string;
	share: SharedView;
	/** A folder below the shared one is on screen. */
	isBelow: boolean;
	/** Why the share does not answer as it did, which is shown in place of it. What was chosen stays. */
	refusal: ReactElement | null;
	/** Called after a refusal that the page may not know the reason of yet: the share may have ended, or have another password. */
	onRefused: () => void;
	/** The page, around the part that receives. */
	children: (receiving: ReactNode) => ReactNode;
}

/** The part of a share's page that sends files: the drop zone and the queue of the landing page, and what was sent. */
export function ShareReceiving({ token, share, isBelow, refusal, onRefused, children }: ShareReceivingProps) {
	const queryClient = useQueryClient();
	const [sender, setSender] = useSender();
	const [denial, setDenial] = useState<string>();
	const field = useRef<HTMLInputElement>(null);
	const sent = useSentFiles(token);
	const [isHeld, setHeld] = useState(false);
	const latest = useLatest({ sender, asksName: share.askName, sent, onRefused, isRefused: refusal !== null });
	const refresh = () =>
		void queryClient.invalidateQueries({ queryKey: queryKeys.listings.folder(shareSource(token).place, '') });
	const refreshLatest = useLatest(refresh);
	/** The sender of the last run: all of its files go into one folder, whatever is typed meanwhile. */
	const runSender = useRef<string>(undefined);

	const destination = useMemo<ShareDestination>(() => {
		const uploads: ShareUploads = {
			token,
			onPublished: (id, { file }, name) => latest.current.sent.add({ id, name, size: file.size, at: Date.now() }),
		};
		const transport = shareTransport(uploads);
		return {
			kind: 'share',
			async transport(...args) {
				try {
					return await transport(...args);
				} catch (error) {
					if (refusals.some((kind) => isFailure(error, kind))) latest.current.onRefused();
					throw error;
				}
			},
			discard: (upload) => discardShareUpload(uploads, upload),
			isReady() {
				// What it is missing is not on screen.
				setHeld(latest.current.isRefused);
				if (latest.current.isRefused) {
					latest.current.onRefused();
					return false;
				}
				const reason = latest.current.asksName ? senderDenial(latest.current.sender) : undefined;
				setDenial(reason);
				if (reason !== undefined) field.current?.focus();
				else runSender.current = latest.current.asksName ? latest.current.sender.trim() : undefined;
				return reason === undefined;
			},
			sender: () => runSender.current,
			onReceived: () => refreshLatest.current(),
		};
	}, [token]);

	return (
		<UploadQueueProvider destination={destination}>
			{refusal ? (
				<>
					{refusal}
					<Kept isHeld={isHeld} onRetry={onRefused} />
				</>
			) : (
				children(
					<div className={styles.receiving} data-alone={share.mode === 'upload'}>
						<UploadSuccess />
						{share.askName && (
							<div className={styles.name}>
								<TextField
									label={messages.yourName}
									hint={messages.nameHint(share.from)}
									value={sender}
									onValue={(name) => {
										setSender(name);
										setDenial(undefined);
									}}
									inputRef={field}
									error={denial}
									autoComplete="name"
								/>
							</div>
						)}
						<Zone share={share} isBelow={isBelow} />
						<UploadQueuePanel />
						<SentList token={token} sent={sent} onTakenBack={refresh} />
					</div>,
				)
			)}
		</UploadQueueProvider>
	);
}

const refusals = ['expired', 'notFound', 'passwordRequired'] as const;

function Zone({ share, isBelow }: Pick<ShareReceivingProps, 'share' | 'isBelow'>) {
	const { mode } = share;
	const isFilled = useUploadQueueView().items.length > 0;
	return (
		<DropZone
			hint={
				mode === 'upload'
					? messages.seenByOwner(share.from)
					: [...whereSent(share, isBelow), messages.seenByAll].join(' ')
			}
			keepsHint
			mayChooseFolder={false}
			isSmall={isFilled || mode === 'both'}
		/>
	);
}

/** Where files go, unless it is the folder on screen. */
function whereSent({ askName }: SharedView, isBelow: boolean): string[] {
	if (askName) return [isBelow ? messages.sentToOwnAtTop : messages.sentToOwn];
	return isBelow ? [messages.sentToTop] : [];
}

/** The queue of a share that does not answer as it did. */
function Kept({ isHeld, onRetry }: { isHeld: boolean; onRetry: () => void }) {
	const isFilled = useUploadQueueView().items.length > 0;
	if (!isFilled) return null;
	return (
		<div className={styles.kept}>
			<div className={styles.note}>
				<p>{messages.kept}</p>
				<Button text={messages.checkAgain} onClick={onRetry} />
			</div>
			{isHeld && <FormError>{messages.held}</FormError>}
			<UploadQueuePanel />
		</div>
	);
}
