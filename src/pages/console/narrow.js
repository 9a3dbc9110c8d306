import { useEffect, useState } from '../shared/preact.js';

export function useNarrow() {
  const [narrow] = useState(() => matchMedia('(width < 640px)'));
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const follow = () => setNarrow(narrow.matches);
    narrow.addEventListener('change', follow);
    return () => narrow.removeEventListener('change', follow);
  }, []);
  return isNarrow;
}
