/** Pixel pairs of the models, by the vendor's SDK; those of Seedance are its own vendor's. */
const pairs = (text: string): readonly string[] => text.split(' ');

const wide = pairs('1280:720 720:1280');
const gen4 = [...wide, ...pairs('1104:832 960:960 832:1104 1584:672')];
const veo = [...wide, ...pairs('1920:1080 1080:1920')];
const sd480 = pairs('864:496 752:560 640:640 560:752 496:864 992:432');
const sd720 = [...wide, ...pairs('1112:834 960:960 834:1112 1470:630')];
const sd1080 = pairs('1920:1080 1664:1248 1440:1440 1248:1664 1080:1920 2206:946');
const sd4k = pairs('3840:2160 3840:2880 3840:3840 2880:3840 2160:3840 3840:1646');
const sd25 = [...pairs('854:480 480:854'), ...sd480.slice(1, 4), '992:432', ...sd720, ...sd1080];
const happy = [
  ...wide,
  ...pairs('960:960 1108:832 832:1108 1920:1080 1080:1920 1440:1440 1662:1248 1248:1662'),
];
const wan = pairs(
  '832:480 720:544 624:624 544:720 480:832 1280:720 1104:832 960:960 832:1104 720:1280 1920:1080 1648:1248 1440:1440 1248:1648 1080:1920',
);
const wanAuto = pairs('auto_480p auto_720p auto_1080p');
const omni = [...pairs('640:360 360:640 3840:2160 2160:3840'), ...veo];
const still = pairs(
  '1024:1024 1080:1080 1168:880 1360:768 1440:1080 1080:1440 1808:768 1920:1080 1080:1920 2112:912 1280:720 720:1280 720:720 960:720 720:960 1680:720',
);

export const runwayRatios = {
  wide, gen4, veo, sd480, sd720, sd1080, sd4k, sd25, happy, wan, wanAuto, omni, still,
}; // prettier-ignore
