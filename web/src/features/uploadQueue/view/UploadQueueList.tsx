import { shownName } from '@stowage/rules';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useRef, useState } from 'react';
import { messages } from '../../../messages.js';
import { useUploader, useUploaderName } from '../destination.js';
import { fullName, isWaiting, mayUploadAs, type QueueItem } from '../queueItem.js';
import { type UploadQueueView, useUploadQueue } from '../useUploadQueue.js';
import { RemoveDialog } from './RemoveDialog.js';
import styles from './UploadQueue.module.css';
import { queueTitle } from './UploadQueueControls.js';
import { UploadQueueItem } from './UploadQueueItem.js';

const estimatedRowHeight = 72;

export interface UploadQueueListProps extends UploadQueueView {
	/** The element that scrolls, which can have the focus. */
	scroller: RefObject<HTMLDivElement | null>;
}

/** The queued files. Only the rows on screen are rendered. */
export function UploadQueueList({ scroller, items, progress, isRunning, conflicts }: UploadQueueListProps) {
	const queue = useUploadQueue();
	const uploader = useUploader();
	const username = useUploaderName();
	const [removing, setRemoving] = useState<QueueItem | undefined>();
	const afterRemoved = useRef<QueueItem>(undefined);
	const virtualizer = useVirtualizer({
		count: items.length,
		getScrollElement: () => scroller.current,
		estimateSize: () => estimatedRowHeight,
		getItemKey: useCallback((index: number) => items[index]?.id ?? index, [items]),
		overscan: 4,
	});

	const remove = (item: QueueItem) => {
		const index = items.indexOf(item);
		afterRemoved.current = items[index + 1] ?? items[index - 1];
		queue.remove(item.id);
		setRemoving(undefined);
	};
	const focusNext = () => {
		const next = afterRemoved.current;
		if (!next) return;
		afterRemoved.current = undefined;
		// The button that had the focus was removed with its row.
		(scroller.current?.querySelector<HTMLElement>(`[data-remove="${next.id}"]`) ?? scroller.current)?.focus();
	};

	return (
		<>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: so that the keyboard can scroll it */}
			{/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form */}
			<div className={styles.scroller} ref={scroller} tabIndex={0} role="group" aria-label={queueTitle({ items })}>
				<ul className={styles.list} style={{ height: virtualizer.getTotalSize() }}>
					{virtualizer.getVirtualItems().map(({ key, index, start }) => {
						const item = items[index];
						return (
							item && (
								<li
									key={key}
									ref={virtualizer.measureElement}
									className={styles.row}
									style={{ transform: `translateY(${start}px)` }}
									data-index={index}
									aria-setsize={items.length}
									aria-posinset={index + 1}
								>
									<UploadQueueItem
										item={item}
										progress={progress?.id === item.id ? progress : undefined}
										isOwn={mayUploadAs(username, item)}
										isLocked={isRunning || !mayUploadAs(username, item)}
										uploader={uploader}
										nameState={isWaiting(item) && mayUploadAs(username, item) ? conflicts.stateOf(item) : 'free'}
										queue={queue}
										onRemove={setRemoving}
									/>
								</li>
							)
						);
					})}
				</ul>
			</div>
			<RemoveDialog
				title={messages.removeFile}
				question={removing && messages.removeQuestion(shownName(fullName(removing)))}
				onRemove={() => removing && remove(removing)}
				onClose={() => setRemoving(undefined)}
				onClosed={focusNext}
			/>
		</>
	);
}
