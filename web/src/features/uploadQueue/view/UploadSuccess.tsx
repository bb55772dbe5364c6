import { TickCircleIcon } from '@blueprintjs/icons';
import { useUploadQueueView } from '../useUploadQueue.js';
import { outcomeText } from './UploadQueueControls.js';
import styles from './UploadSuccess.module.css';

/** Says for a moment that all files of a run are uploaded. */
export function UploadSuccess() {
	const view = useUploadQueueView();
	if (!view.hasSucceeded) return null;
	return (
		<div className={styles.success} role="status">
			<TickCircleIcon />
			{outcomeText(view)}
		</div>
	);
}
