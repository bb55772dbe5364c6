import { Button } from '@blueprintjs/core';
import { ErrorIcon, TimeIcon } from '@blueprintjs/icons';
import { isFailure } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useMemo, useState } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import { isTransient } from '../api/client/retries.js';
import { type SharedView, shareQuery } from '../api/sharePage.js';
import { FileSourceContext } from '../api/sources/FileSource.js';
import { shareSource } from '../api/sources/shareSource.js';
import { useTitle } from '../features/files/location/folderTitle.js';
import { parseShareLocation, type ShareLocation } from '../features/files/location/location.js';
import { sharePageMessages as messages } from '../features/sharePage/messages.js';
import { ShareAbout } from '../features/sharePage/ShareAbout.js';
import { shareTitle } from '../features/sharePage/shareTitle.js';
import { EmptyState } from '../ui/display/EmptyState.js';
import { lazyComponent } from '../ui/lazyComponent.js';
import styles from './SharePage.module.css';
import { SharePageFolder } from './SharePageFolder.js';
import type { ShareReceivingProps } from './ShareReceiving.js';

// The upload queue: most shares receive nothing.
const ShareReceiving = lazyComponent<ShareReceivingProps>(
	async () => (await import('./ShareReceiving.js')).ShareReceiving,
);
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

	const [needsCookies, setNeedsCookies] = useState(false);
	// A query without data forgets its error while it is fetched: the form would go, and the focus with it, before there is a list.
	const [isOpening, setIsOpening] = useState(false);
	const open = async () => {
		setIsOpening(true);
		setNeedsCookies(isFailure((await refetch()).error, 'passwordRequired'));
		setIsOpening(false);
	};

	const retry = () => void refetch();
	const refusal =
		isFailure(error, 'passwordRequired') || (isOpening && !share) ? (
			<SharePassword token={token} needsCookies={needsCookies} onOpened={open} />
		) : (
			refusalOf(error, share !== undefined, retry)
		);
	if (!share) return refusal;
	const title = shareTitle(share);
	const folder = (receiving?: ReactNode) => (
		<SharePageFolder location={location} share={share} title={title} onRefused={retry} receiving={receiving} />
	);
	if (share.mode === 'view') return refusal ?? <FileSourceContext value={source}>{folder()}</FileSourceContext>;
	const around = (receiving?: ReactNode) =>
		share.mode === 'both' ? folder(receiving) : <Inbox share={share}>{receiving}</Inbox>;
	return (
		<FileSourceContext value={source}>
			<ShareReceiving
				token={token}
				share={share}
				isBelow={location.directory !== ''}
				refusal={refusal}
				onRefused={retry}
				fallback={refusal ?? around()}
			>
				{around}
			</ShareReceiving>
		</FileSourceContext>
	);
}

/** What is shown in place of a share. What is shown of it stays while the server is away. */
function refusalOf(error: Error | null, isKnown: boolean, onRetry: () => void): ReactElement | null {
	if (isFailure(error, 'expired')) return <Ended />;
	if (isFailure(error, 'notFound')) return <Missing />;
	if (!error || (isKnown && isTransient(error))) return null;
	return <Failed reason={error.message} onRetry={onRetry} />;
}

/** A share that only receives. */
function Inbox({ share, children }: { share: SharedView; children: ReactNode }) {
	useTitle(shareTitle(share));
	return (
		<div className={styles.inbox}>
			<ShareAbout share={share} />
			{children}
		</div>
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
