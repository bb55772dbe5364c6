import { Dialog } from '@blueprintjs/core';
import { TickCircleIcon } from '@blueprintjs/icons';
import { useEffect, useMemo, useRef } from 'react';
import { messages } from '../../../messages.js';
import { dialogMilliseconds, useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { fraction, runProgress } from '../queueSummary.js';
import { type UploadQueueView, useUploadQueue, useUploadQueueView } from '../useUploadQueue.js';
import styles from './UploadQueue.module.css';
import { outcomeText, queueTitle, SetAll, UploadQueueFooter } from './UploadQueueControls.js';
import { UploadQueueList } from './UploadQueueList.js';

const noticeKey = 'upload-queue';

/**
 * The queue as a dialog. `useUploadQueue().openDialog()` opens it. While it is closed with files in the queue, the
 * notification bar shows their progress and reopens it. `onClosed` is called when it has faded out and the focus is back
 * where it was, if that still exists.
 */
export function UploadQueueDialog({ onClosed }: { onClosed: () => void }) {
	const queue = useUploadQueue();
	const view = useUploadQueueView();
	const filled = useLast(view.items.length > 0 ? view : undefined);
	const openings = useOpenings(view.isDialogOpen);
	const list = useRef<HTMLDivElement>(null);
	useQueueNotice(view);
	return (
		<Dialog
			key={openings}
			className={styles.dialog}
			isOpen={view.isDialogOpen}
			title={filled ? queueTitle(filled) : ''}
			canOutsideClickClose={false}
			transitionDuration={dialogMilliseconds}
			onClose={queue.closeDialog}
			onClosed={onClosed}
		>
			{filled && (
				<>
					<div className={styles.dialogHeader}>
						{filled.hasSucceeded ? (
							<div className={styles.success} role="status">
								<TickCircleIcon />
								{outcomeText(filled)}
							</div>
						) : (
							<SetAll {...filled} />
						)}
					</div>
					<UploadQueueList {...filled} scroller={list} />
					<UploadQueueFooter {...filled} list={list} hasFocusFirst />
				</>
			)}
		</Dialog>
	);
}

function useQueueNotice(view: UploadQueueView): void {
	const { items, run, progress, isDialogOpen, isRunning, hasSucceeded, failure } = view;
	const queue = useUploadQueue();
	const { notify, dismiss } = useNotify();
	const done = useMemo(() => runProgress({ items, run }), [items, run]);
	const isAway = items.length > 0 && !isDialogOpen;
	const value = isRunning ? fraction(done.uploadedSize + (progress?.uploadedSize ?? 0), done.totalSize) : undefined;
	const percent = value === undefined ? undefined : Math.floor(value * 100) / 100;
	const text = queueTitle({ items });
	const outcome = outcomeText(view);

	useEffect(() => {
		if (!isAway) return dismiss(noticeKey);
		const show = { text: messages.showQueue, onClick: queue.openDialog };
		if (hasSucceeded) {
			notify({ key: noticeKey, intent: 'success', message: outcome });
		} else if (percent !== undefined) {
			const message = `${messages.uploading} ${messages.filesDone(done.completed, done.total)}`;
			notify({ key: noticeKey, message, progress: percent, onCancel: queue.cancel, action: show });
		} else if (failure !== undefined) {
			notify({
				key: noticeKey,
				intent: 'danger',
				message: messages.uploadFailedBecause(failure),
				stays: true,
				action: show,
			});
		} else {
			notify({ key: noticeKey, message: text, stays: true, action: show });
		}
	}, [isAway, percent, done, hasSucceeded, outcome, failure, text, notify, dismiss, queue]);

	useEffect(() => () => dismiss(noticeKey), [dismiss]);
}
