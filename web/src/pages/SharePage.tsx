import { Button } from '@blueprintjs/core';
import { ErrorIcon, InboxIcon, TimeIcon } from '@blueprintjs/icons';
import { isFailure } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import { shareQuery } from '../api/sharePage.js';
import { FileSourceContext } from '../api/sources/FileSource.js';
import { shareSource } from '../api/sources/shareSource.js';
import { isTransient } from '../features/files/folder/refreshPolicy.js';
import { useTitle } from '../features/files/location/folderTitle.js';
import { parseShareLocation, type ShareLocation } from '../features/files/location/location.js';
import { sharePageMessages as messages } from '../features/sharePage/messages.js';
import { ShareAbout } from '../features/sharePage/ShareAbout.js';
import { shareTitle } from '../features/sharePage/shareTitle.js';
import { EmptyState } from '../ui/display/EmptyState.js';
import { lazyComponent } from '../ui/lazyComponent.js';
import styles from './BrowserPage.module.css';
import { SharePageFolder } from './SharePageFolder.js';

// Most shares have none.
const SharePassword = lazyComponent(async () => (await import('../features/sharePage/SharePassword.js')).SharePassword);

/** The page of a share, for whoever has its address: `/s/{token}` and everything below it. */
export function SharePage() {
	const { pathname } = useLocation();
	const [query] = useSearchParams();
	const location = useMemo(() => parseShareLocation(pathname, query), [pathname, query]);
	if (!location) return <Missing />;
	return <Share key={location.token} location={location} />;
}

function Share({ location }: { location: ShareLocation }) {
	const { token } = location;
	const { data: share, error, refetch } = useQuery(shareQuery(token));
	const source = useMemo(() => shareSource(token), [token]);

	if (isFailure(error, 'passwordRequired')) return <SharePassword token={token} onOpened={refetch} />;
	if (isFailure(error, 'expired')) return <Ended />;
	if (isFailure(error, 'notFound')) return <Missing />;
	// What is shown stays while the server is away.
	if (error && !(share && isTransient(error))) return <Failed reason={error.message} onRetry={() => void refetch()} />;
	if (!share) return null;
	if (share.mode === 'upload') {
		return (
			<div className={styles.page}>
				<ShareAbout share={share} />
				<EmptyState icon={<InboxIcon size={32} />} title={messages.onlyReceives} />
			</div>
		);
	}
	return (
		<FileSourceContext value={source}>
			<SharePageFolder location={location} share={share} title={shareTitle(share)} onRefused={() => void refetch()} />
		</FileSourceContext>
	);
}

function Ended() {
	useTitle(messages.ended);
	return <EmptyState icon={<TimeIcon size={32} />} titleTagName="h1" title={messages.ended} />;
}

function Missing() {
	useTitle(messages.missing);
	return (
		<EmptyState
			icon={<ErrorIcon size={32} />}
			titleTagName="h1"
			title={messages.missing}
			detail={messages.missingHint}
		/>
	);
}

function Failed({ reason, onRetry }: { reason: string; onRetry: () => void }) {
	return (
		<EmptyState icon={<ErrorIcon size={32} />} titleTagName="h1" title={messages.failed} reason={reason}>
			<Button intent="primary" text={messages.tryAgain} onClick={onRetry} />
		</EmptyState>
	);
}
