import { useQuery } from '@tanstack/react-query';
import type { CSSProperties } from 'react';
import { capabilitiesQuery } from '../api/capabilities.js';
import { useSession } from '../api/session/useSession.js';
import { DropZone } from '../features/uploadQueue/choosing/DropZone.js';
import { useUploadQueueView } from '../features/uploadQueue/useUploadQueue.js';
import { UploadQueuePanel } from '../features/uploadQueue/view/UploadQueuePanel.js';
import { UploadSuccess } from '../features/uploadQueue/view/UploadSuccess.js';
import { messages } from '../messages.js';
import { useCovered } from '../ui/notifications/useCovered.js';
import styles from './LandingPage.module.css';

export function LandingPage() {
	const covered = useCovered();
	const isFilled = useUploadQueueView().items.length > 0;
	const { status } = useSession();
	const { data: capabilities } = useQuery(capabilitiesQuery);
	const mayUpload = capabilities === undefined || capabilities.visitors === 'upload';
	return (
		<div className={styles.page} data-filled={isFilled} style={{ '--covered': `${covered}px` } as CSSProperties}>
			<h1 className={styles.tagline}>{messages.tagline}</h1>
			<UploadSuccess />
			<DropZone
				hint={
					<>
						{status === 'signedIn' && messages.dropHintSignedIn}
						{status === 'signedOut' && (mayUpload ? messages.dropHintVisitor : messages.dropHintSignIn)}
					</>
				}
				mayChooseFolder={status === 'signedIn'}
				isSmall={isFilled}
			/>
			<UploadQueuePanel />
		</div>
	);
}
