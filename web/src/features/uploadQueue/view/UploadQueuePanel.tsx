import { useId, useRef } from 'react';
import { useUploadQueueView } from '../useUploadQueue.js';
import styles from './UploadQueue.module.css';
import { queueTitle, SetAll, UploadQueueFooter } from './UploadQueueControls.js';
import { UploadQueueList } from './UploadQueueList.js';

/** The queue as a part of a page. Renders nothing while it is empty. */
export function UploadQueuePanel() {
	const view = useUploadQueueView();
	const titleId = useId();
	const list = useRef<HTMLDivElement>(null);
	if (view.items.length === 0) return null;
	return (
		<section className={styles.panel} aria-labelledby={titleId}>
			<div className={styles.header}>
				<h2 className={styles.title} id={titleId}>
					{queueTitle(view)}
				</h2>
				<div className={styles.choices}>
					<SetAll {...view} />
				</div>
			</div>
			<UploadQueueList {...view} scroller={list} />
			<UploadQueueFooter {...view} list={list} />
		</section>
	);
}
