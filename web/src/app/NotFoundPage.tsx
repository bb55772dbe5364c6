import { Button } from '@blueprintjs/core';
import { useNavigate } from 'react-router';
import { messages } from '../messages.js';
import { EmptyState } from '../ui/EmptyState.js';

export function NotFoundPage() {
	const navigate = useNavigate();
	return (
		<EmptyState titleTagName="h1" title={messages.pageNotFound}>
			<Button intent="primary" text={messages.home} onClick={() => navigate('/')} />
		</EmptyState>
	);
}
